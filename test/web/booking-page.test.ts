/** `GET /b/{public_id}` in a browser's words, over the wire. */
import { afterAll, expect, test } from 'vitest';
import { blockSite } from '#db/sites/transitions.ts';
import { errorOf } from '#test/api/fixture.ts';
import { createBookingFixture } from '#test/bookings/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { challengeEnv } from '#test/forms/fixture.ts';

const fixture = await createBookingFixture(challengeEnv);
afterAll(() => fixture.close());
/** As Chromium and Firefox ask for a page. */
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const asked = (path: string, value = accept) => fixture.anyone('GET', path, { headers: { accept: value } });
const isPage = (headers: Headers) => headers.get('content-type') === 'text/html; charset=utf-8';

test('the booking page is for clients that name text/html, and JSON for all others', async () => {
  const { publicId } = await fixture.newBookable();
  const path = `/b/${publicId}`;
  for (const value of [accept, 'text/html', 'application/json, Text/HTML; q=0.1']) {
    const { status, headers, text } = await asked(path, value);
    expect([status, isPage(headers)]).toEqual([200, true]);
    expect(text).toContain(`<frontage-booking site="${publicId}">`);
  }
  for (const value of [
    '*/*',
    'text/*',
    'application/json',
    'text/html;q=0',
    'text/html-sandboxed',
    'image/*,*/*;q=0.8',
  ]) {
    const { status, headers, body } = await asked(path, value);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body.services).toHaveLength(1);
  }
  for (const value of [accept, '*/*']) {
    const { headers } = await asked(path, value);
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual(['no-store', 'origin, accept']);
    expect(headers.get('ratelimit-limit')).toMatch(/^\d+$/);
  }
});

test('the page has a strict policy and runs only the widget', async () => {
  const { publicId } = await fixture.newBookable();
  const { headers, text } = await asked(`/b/${publicId}`);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-\S+' 'sha256-\S+'; img-src 'self' data:; script-src 'self'; connect-src 'self';/,
  );
  expect(policy).toContain("form-action 'none'; frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  expect(text.match(/<script[^>]*>/g)).toEqual([
    expect.stringMatching(/^<script type="module" src="\/b\/widget-[0-9a-f]+\.js">$/),
  ]);
});

test('title, services, text and two colours of the owner are on the page, escaped', async () => {
  const { owner, site, publicId } = await fixture.newBookable(
    timetable({ service: { name: 'Tea & <b>talk</b>', place: 'Mill Lane 3' }, fallback: 'Call us:\n030 1234' }),
  );
  const colors = { accent: '#FFD400', background: '#fdf6e3' };
  const change = await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { title: 'The <i>pottery</i>', colors } });
  expect(change.body.colors).toEqual({ accent: '#ffd400', background: '#fdf6e3' });
  const { text } = await asked(`/b/${publicId}`);
  expect(text).toContain('<h1>The &#60;i&#62;pottery&#60;/i&#62;</h1>');
  expect(text).toContain('Tea &#38; &#60;b&#62;talk&#60;/b&#62;</strong><small>1 hour · free of charge · Mill Lane 3');
  expect(text).toContain('Call us:<br>030 1234');
  expect(text).toContain('--fill: #ffd400;');
  expect(text).toContain('--paper: #fdf6e3;');
  await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { colors: null } });
  expect((await asked(`/b/${publicId}`)).text).not.toContain('#ffd400');
  const { body } = await owner.call('GET', `/v1/sites/${site.id}/history`);
  expect(body.items[0]).toMatchObject({ action: 'site.updated', detail: { colors: { to: null } } });
});

test('other colours than two hexadecimal ones are refused, with the field’s name', async () => {
  const { owner, site } = await fixture.newBookable();
  const send = (colors: unknown) => owner.call('PATCH', `/v1/sites/${site.id}`, { body: { colors } });
  for (const accent of ['red', '#fff', '#12345g', 'url(x)', '#123456;}body{', '#123456\n', 7]) {
    const refused = await send({ accent, background: '#ffffff' });
    expect([refused.status, errorOf(refused).code]).toEqual([400, 'invalid_input']);
    expect(errorOf(refused).message).toMatch(/^The field colors\.accent in the body must be /);
  }
  expect(errorOf(await send({ accent: '#123456' })).message).toBe(
    'The field colors.background is required in the body.',
  );
  expect(errorOf(await send('blue')).code).toBe('invalid_input');
});

test('a fallback stays until it is replaced, and null removes it', async () => {
  const { owner, site, bookable } = await fixture.newBookable(timetable({ fallback: 'Call 030 1234.' }));
  expect(bookable.fallback).toBe('Call 030 1234.');
  const declare = async (more: object) =>
    (await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: timetable({ ...more }) })).body.fallback;
  expect(await declare({})).toBe('Call 030 1234.');
  expect(await declare({ fallback: null })).toBeNull();
});

test('closed, blocked, archived and unknown sites answer an error page', async () => {
  const cases: [string, (made: Awaited<ReturnType<typeof fixture.newBookable>>) => Promise<unknown>][] = [
    ['archived', ({ owner, site }) => owner.call('POST', `/v1/sites/${site.id}/archive`)],
    ['ended', ({ owner, site }) => owner.call('DELETE', `/v1/sites/${site.id}/bookable?confirm=true`)],
    ['blocked', ({ site }) => blockSite(fixture.deps.em(), fixture.clock, site.id, 'A test.')],
    [
      'deleted',
      async ({ owner, site }) => {
        await owner.call('POST', `/v1/sites/${site.id}/archive`);
        await owner.call('DELETE', `/v1/sites/${site.id}?confirm=true`);
      },
    ],
  ];
  for (const [what, act] of cases) {
    const made = await fixture.newBookable();
    await act(made);
    const path = `/b/${made.publicId}`;
    const json = await fixture.anyone('GET', path);
    const page = await asked(path);
    expect([what, errorOf(json).code, page.status]).toEqual([what, 'bookings_unavailable', json.status]);
    expect(isPage(page.headers)).toBe(true);
    expect(page.text).toContain('<h1>You cannot book here</h1>');
    expect(page.text).not.toContain('frontage-booking');
  }
  const unknown = await asked('/b/0000000000000000');
  expect([unknown.status, isPage(unknown.headers)]).toEqual([404, true]);
  expect(unknown.text).toContain('<h1>We can’t find this page</h1>');
});

test('a site that can take no payment says so in place of the widget', async () => {
  const { publicId } = await fixture.newBookable(timetable({ service: { price: { amount: 2500, currency: 'EUR' } } }));
  const { headers, text } = await asked(`/b/${publicId}`);
  expect(text).toContain('Nothing can be booked here at the moment');
  expect(text).toContain('€25.00 per seat');
  expect(text).not.toContain('<frontage-booking');
  expect(headers.get('content-security-policy')).not.toContain('script-src');
});

test('a booking from the page is accepted, and from another website refused', async () => {
  const { publicId } = await fixture.newBookable();
  const [first, second] = await fixture.slots(publicId, fixture.dateIn(3));
  const { baseUrl } = fixture.config;
  const book = (start = '', origin = baseUrl) => fixture.book(publicId, start, {}, { origin });
  expect((await book(first?.start)).status).toBe(200);
  const foreign = await book(second?.start, 'https://elsewhere.example');
  expect([foreign.status, errorOf(foreign).code]).toEqual([400, 'invalid_origin']);
});
