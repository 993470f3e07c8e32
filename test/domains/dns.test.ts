/** DNS queries distinguish found, absent and unknown. */
import { createSocket } from 'node:dgram';
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet } from 'dns-packet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { observeDns } from '#providers/dns/observation.ts';
import { type Dns, openDns } from '#providers/dns.ts';
import { readName } from '#rules/dns/names.ts';
import type { DnsAnswer } from '#rules/dns/observation.ts';
import { type LocalDns, startLocalDns } from '#tools/local/dns/server.ts';
import { freePort } from '#tools/local/ports.ts';
import { badNames } from './name-list.ts';

let names: LocalDns;
let dns: Dns;
beforeAll(async () => {
  names = await startLocalDns({});
  dns = openDns({ resolvers: [names.address], port: names.port });
});
afterAll(() => names?.close());

test('found, absent and unknown records are distinguished', async () => {
  names.set('here.test', 'A', '192.0.2.1');
  names.set('www.here.test', 'CNAME', 'here.test');
  names.set('here.test', 'TXT', 'one', 'two');
  names.set('here.test', 'CAA', '0 issue "letsencrypt.org"');
  expect(await dns.ask('here.test', 'TXT')).toEqual({ found: ['one', 'two'] });
  expect(await dns.ask('www.here.test', 'A')).toEqual({ found: ['192.0.2.1'] });
  expect(await dns.ask('here.test', 'CAA')).toEqual({ found: ['0 issue letsencrypt.org'] });
  expect(await dns.ask('here.test', 'AAAA')).toEqual({ none: true });
  expect(await dns.ask('gone.test', 'A')).toEqual({ none: true });
  for (const fault of ['SERVFAIL', 'REFUSED', 'silence'] as const) {
    names.fault = () => fault;
    expect([fault, await dns.ask('here.test', 'A')]).toEqual([fault, { unknown: true }]);
  }
  names.fault = () => undefined;
  const nobody = openDns({ resolvers: [`127.0.0.1:${await freePort()}`], port: 1 });
  expect(await nobody.ask('here.test', 'A')).toEqual({ unknown: true });
  expect(await nobody.askParent('here.test')).toEqual({
    exists: 'unknown',
    ns: { unknown: true },
    ds: { unknown: true },
  });
}, 60_000);

test('one responding server is enough, and a failure is retried once', async () => {
  const both = openDns({ resolvers: [`127.0.0.1:${await freePort()}`, names.address], port: names.port });
  let failures = 1;
  names.fault = () => (failures-- > 0 ? 'SERVFAIL' : undefined);
  names.set('twice.test', 'A', '192.0.2.1');
  expect(await both.ask('twice.test', 'A')).toEqual({ found: ['192.0.2.1'] });
  names.fault = () => undefined;
});

test('a truncated response is fetched over TCP', async () => {
  const texts = Array.from({ length: 20 }, (_, at) => `${at} `.padEnd(200, 'x'));
  names.set('long.test', 'TXT', ...texts);
  expect(await dns.ask('long.test', 'TXT')).toEqual({ found: texts });
});

test('the parent’s referral names the delegation, with its DS records', async () => {
  names.delegate('away.test', 'ns1.example.test', 'ns2.example.test');
  names.set('away.test', 'DS', 'x');
  const asked = await dns.askParent('away.test');
  expect(asked).toEqual({
    exists: 'yes',
    ns: { found: ['ns1.example.test', 'ns2.example.test'] },
    ds: { found: ['1 13'] },
  });
  expect(await dns.askParent('nothing.test')).toEqual({ exists: 'no', ns: { none: true }, ds: { none: true } });
  const sight = await observeDns(dns, { name: 'away.test', registrable: 'away.test' });
  expect(sight).toMatchObject({ registered: 'yes', a: { unknown: true }, isBogus: false });
});

describe('a response that is no referral of the parent names no delegation', () => {
  const ns = (name: string): Answer => ({ type: 'NS', name, ttl: 1, data: 'x.a.ns.test' });
  const aa = AUTHORITATIVE_ANSWER;
  test.each<[string, Partial<Packet>, DnsAnswer]>([
    ['a referral, to compare', { authorities: [ns('victim.test')] }, { found: ['x.a.ns.test'] }],
    ['a referral in capitals', { authorities: [ns('VICTIM.Test')] }, { found: ['x.a.ns.test'] }],
    ['an answer with authority', { flags: aa, authorities: [ns('victim.test')] }, { none: true }],
    ['an answer in place of a referral', { answers: [ns('victim.test')] }, { none: true }],
    ['a referral for the name above', { authorities: [ns('test')] }, { none: true }],
    ['a referral for a name below', { authorities: [ns('www.victim.test')] }, { none: true }],
    ['a referral for a name with the same ending', { authorities: [ns('a-victim.test')] }, { none: true }],
    [
      'records of another kind',
      { authorities: [{ type: 'CNAME', name: 'victim.test', data: 'x.a.ns.test' }] },
      { none: true },
    ],
    // Could not ask is not that there is nothing, whatever stands beside it (RFC 1035 section 4.1.1: 2 and 5).
    ['a failure', { flags: 2, authorities: [ns('victim.test')] }, { unknown: true }],
    ['a refusal', { flags: 5 }, { unknown: true }],
  ])('%s', async (_what, said, expected) => {
    const socket = createSocket('udp4');
    socket.on('message', (bytes, from) => {
      const { id = 0, questions: [asked] = [], flag_rd } = decode(bytes);
      const registry: Answer = {
        type: asked?.type === 'A' ? 'A' : 'NS',
        name: asked?.name ?? '',
        ttl: 1,
        data: asked?.type === 'A' ? '127.0.0.1' : 'ns.registry.test',
      };
      const isUsual = flag_rd && ['A', 'NS'].includes(asked?.type ?? '');
      const rest = isUsual ? { answers: [registry] } : asked?.type === 'NS' ? said : {};
      socket.send(encode({ type: 'response', id, questions: asked ? [asked] : [], ...rest }), from.port, from.address);
    });
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const { port } = socket.address();
    const asking = openDns({ resolvers: [`127.0.0.1:${port}`], port });
    const exists = 'unknown' in expected ? 'unknown' : 'yes';
    expect(await asking.askParent('victim.test')).toMatchObject({ exists, ns: expected });
    socket.close();
  });
});

test('a resolver that fails only with validation is distinguished from one that is down', async () => {
  names.set('bogus.test', 'A', '192.0.2.1');
  names.fault = ({ name, checking }) => (name === 'bogus.test' && checking ? 'SERVFAIL' : undefined);
  expect(await dns.isBogus('bogus.test')).toBe(true);
  names.fault = ({ name }) => (name === 'bogus.test' ? 'SERVFAIL' : undefined);
  expect(await dns.isBogus('bogus.test')).toBe(false);
  names.fault = () => undefined;
  expect(await dns.isBogus('bogus.test')).toBe(false);
});

test('malformed and mismatched responses are ignored', async () => {
  // As the question's answer would begin, under another number.
  const otherId = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0x81, 0x80]), bytes.subarray(4)]);
  const replies = [(bytes: Buffer) => bytes, () => Buffer.from('x'), () => Buffer.alloc(600, 0xff), otherId];
  // Each is waited for as long as an answer may take, so all at once.
  const heard = replies.map(async (reply) => {
    const socket = createSocket('udp4');
    socket.on('message', (bytes, from) => socket.send(reply(bytes), from.port, from.address));
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const liar = openDns({ resolvers: [`127.0.0.1:${socket.address().port}`], port: 1 });
    return await liar.ask('here.test', 'A').finally(() => socket.close());
  });
  expect(await Promise.all(heard)).toEqual(replies.map(() => ({ unknown: true })));
}, 60_000);

test.each([
  ['example.com', 'example.com', 'example.com'],
  [' EXAMPLE.Com. ', 'example.com', 'example.com'],
  ['www.example.co.uk', 'www.example.co.uk', 'example.co.uk'],
  ['bücher.de', 'xn--bcher-kva.de', 'xn--bcher-kva.de'],
  ['XN--BCHER-KVA.de', 'xn--bcher-kva.de', 'xn--bcher-kva.de'],
  ['дом.рф', 'xn--d1aqf.xn--p1ai', 'xn--d1aqf.xn--p1ai'],
  ['例え.jp', 'xn--r8jz45g.jp', 'xn--r8jz45g.jp'],
  ['me.github.io', 'me.github.io', 'me.github.io'],
  ['shop.city.kawasaki.jp', 'shop.city.kawasaki.jp', 'city.kawasaki.jp'],
  ['shop.example.test', 'shop.example.test', 'example.test'],
])('%j is the name %s, registered as %s', (given, name, registrable) => {
  expect(readName(given, ['test'])).toEqual({ name, registrable });
});

test.each(badNames.map((name) => [name]))('%j is not a valid domain name', (name) => {
  expect(readName(name)).toMatchObject({ fault: 'invalid' });
});
