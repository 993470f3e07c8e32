/** Random and bent bodies, at the doors that are open to anybody: each is answered in the contract's words, none breaks anything. */
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { catalog } from '#runtime/errors.ts';
import { bookings, createBookingFixture } from '#test/bookings/fixture.ts';
import { sized } from '#test/campaigns/size.ts';
import { quickest } from '#test/stack/quickest.ts';
import { challengeEnv, forms } from './fixture.ts';

let fixture: Awaited<ReturnType<typeof createBookingFixture>>;
let formAddress: string;
let bookingAddress: string;
beforeAll(async () => {
  fixture = await createBookingFixture({ ...challengeEnv, FRONTAGE_RATE_SCALE: '1000000' });
  const owner = await fixture.newCaller();
  formAddress = `/f/${(await forms(fixture).newForm(owner)).id}`;
  bookingAddress = `/b/${(await bookings(fixture).newBookable()).publicId}`;
});
afterAll(() => fixture.close());

const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    '\0',
    '\ud800',
    '\u202e',
    '=1+1',
    '%',
    '%00',
    '%ff',
    '"',
    '\r\nBcc: a@b.c',
  ),
  fc.constantFrom('name', 'email', 'altcha', '_return', '_page', 'service', 'start', 'visitor', 'intake', 'seats'),
  fc.double().map(String),
  fc.bigInt().map(String),
);
const pairs = fc.array(fc.tuple(nasty, nasty), { maxLength: 12 });
const encoded = pairs.map((all) => ['application/x-www-form-urlencoded', new URLSearchParams(all).toString()]);
const raw = fc.tuple(
  fc.constantFrom(
    'application/x-www-form-urlencoded',
    'application/json',
    'multipart/form-data; boundary=b',
    'text/plain',
    '',
  ),
  nasty,
);
const json = fc.json({ stringUnit: 'binary', maxDepth: 4 }).map((text) => ['application/json', text]);
const object = fc
  .dictionary(nasty, fc.oneof(nasty, fc.double(), fc.boolean(), fc.constant(null), fc.array(nasty), fc.object()))
  .map((one) => ['application/json', JSON.stringify(one)]);
const parts = pairs.map((all) => [
  'multipart/form-data; boundary=b',
  `${all.map(([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')}--b--\r\n`,
]);
const wish = fc
  .record(
    {
      service: fc.oneof(fc.constant('talk'), nasty),
      start: fc.oneof(
        fc.date().map(String),
        fc.constantFrom(
          '2026-11-25T10:00:00Z',
          '+275760-09-13T00:00:00Z',
          '0000-01-01T00:00:00-23:59',
          '9999-12-31T23:59:60Z',
        ),
      ),
      seats: fc.oneof(fc.integer(), fc.double(), nasty),
      visitor: fc.record({ name: nasty, email: fc.oneof(nasty, fc.emailAddress()) }),
      intake: fc.dictionary(nasty, fc.oneof(nasty, fc.double(), fc.array(nasty))),
      calendar: nasty,
    },
    { requiredKeys: [] },
  )
  .map((one) => ['application/json', JSON.stringify(one)]);

const runs = sized({ one: 50, short: 150, long: 10_000 });
const bodies = fc.oneof(encoded, raw, json, object, parts, wish) as fc.Arbitrary<[string, string]>;

test('no body breaks a form or a timetable, and each refusal is documented', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(bodies, fc.boolean(), async ([type, body], toForm) => {
      const headers = { ...(type ? { 'content-type': type } : {}), accept: 'application/json' };
      const url = toForm ? formAddress : bookingAddress;
      const answer = await fixture.app.inject({ method: 'POST', url, payload: Buffer.from(body), headers });
      expect([answer.statusCode, Object.hasOwn(catalog, answer.json().error?.code)]).toEqual([answer.statusCode, true]);
      expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      expect(answer.statusCode).toBeLessThan(500);
    }),
    { numRuns: runs },
  );
});

test('no query breaks days or time slots', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('days', 'slots', ''), pairs, async (what, all) => {
      const query = new URLSearchParams([['service', 'talk'] as [string, string], ...all]);
      const answer = await fixture.app.inject({ url: `${bookingAddress}/${what}?${query}` });
      expect(answer.statusCode).toBeLessThan(500);
    }),
    { numRuns: runs },
  );
  for (const date of [
    '-271821-04-20',
    '+275760-09-13',
    '9999-12-31',
    '0000-01-01',
    '2026-02-30',
    '2026-13-01',
    '２０２６-01-01',
  ]) {
    for (const query of [
      `slots?service=talk&date=${date}`,
      `days?service=talk&from=${date}`,
      `days?service=talk&to=${date}`,
    ]) {
      const answer = await fixture.app.inject({ url: `${bookingAddress}/${query}` });
      expect([query, answer.statusCode < 500]).toEqual([query, true]);
    }
  }
});

test.each([
  [
    'one name a hundred thousand times',
    'multipart/form-data; boundary=b',
    '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(16_000),
  ],
  ['endless headers', 'multipart/form-data; boundary=b', `--b\r\n${'x-a: b\r\n'.repeat(100_000)}`],
  ['boundaries alone', 'multipart/form-data; boundary=b', '--b\r\n'.repeat(200_000)],
  [
    'parts in parts',
    'multipart/form-data; boundary=b',
    '--b\r\ncontent-type: multipart/mixed; boundary=c\r\n\r\n--c\r\n'.repeat(18_000),
  ],
  ['a list in lists', 'application/json', '['.repeat(1_000_000)],
  ['an answer of numbers', 'application/json', `{"name":[${'1e308,'.repeat(150_000)}1]}`],
  ['incomplete escapes', 'application/x-www-form-urlencoded', '%'.repeat(1_000_000)],
])('a body of %s is answered quickly', async (_what, type, body) => {
  const headers = { 'content-type': type, accept: 'application/json' };
  const sent = async () => {
    const answer = await fixture.app.inject({ method: 'POST', url: formAddress, payload: body, headers });
    expect(answer.statusCode).toBe(400);
  };
  expect(await quickest(3_000, sent)).toBeLessThan(3_000);
});

test('slow clients do not delay others', async () => {
  const { port, hostname } = new URL(fixture.url);
  const slow = Array.from({ length: 200 }, () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    const head = `POST ${formAddress} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{`;
    socket.write(head);
    return { socket, drip: setInterval(() => socket.write(' '), 100) };
  });
  const began = performance.now();
  expect((await fetch(`${fixture.url}${formAddress}`)).status).toBe(200);
  expect(performance.now() - began).toBeLessThan(5_000);
  for (const { socket, drip } of slow) {
    clearInterval(drip);
    socket.destroy();
  }
});
