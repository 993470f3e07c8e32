/**
 * Records of zones that we hold: what is written is what the name server answers, and what cannot be is refused before it is asked.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Zones } from '#providers/zones.ts';
import type { Caller } from '#test/api/fixture.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';
import { codeOf, createDomainFixture, type DomainFixture, type Shown } from './fixture.ts';
import { badRecords, goodRecords } from './record-list.ts';

let fixture: DomainFixture;
let owner: Caller;
let domain: Shown;
beforeAll(async () => {
  fixture = await createDomainFixture();
  owner = await fixture.newCaller();
  domain = await fixture.active(owner, 'nameservers');
}, 60_000);
afterAll(() => fixture?.close());

const add = (body: object, on = domain) => owner.call('POST', `/v1/domains/${on.id}/records`, { body });

test.each(goodRecords)('$type $name is written, and served by the name server', async ({ said, ...record }) => {
  const { status, body, text } = await add(record);
  expect([status, text]).toEqual([200, expect.any(String)]);
  const name = `${record.name === '@' ? '' : `${record.name}.`}${domain.domain}`;
  expect(body).toMatchObject({ type: record.type, name: body.name, managed: false });
  expect((await fixture.zone(body.name, record.type)).answers).toContainEqual(said);
  const removed = await owner.call('DELETE', `/v1/domains/${domain.id}/records/${body.record_id}`);
  expect(removed.body.record_id).toBe(body.record_id);
  expect((await fixture.zone(name, record.type)).answers).not.toContainEqual(said);
});

test('200 hostile records are invalid_record with reasons, and the zone is unchanged', async () => {
  expect(badRecords.length).toBeGreaterThanOrEqual(200);
  const before = (await owner.call('GET', `/v1/domains/${domain.id}/records`)).body.items;
  for (const record of badRecords) {
    const answer = await add(record);
    // What no text has is refused with the body itself.
    const code = /\\u0000|\\ud800/.test(JSON.stringify(record)) ? 'invalid_json' : 'invalid_record';
    expect([record, ...codeOf(answer)]).toEqual([record, 400, code]);
  }
  expect((await owner.call('GET', `/v1/domains/${domain.id}/records`)).body.items).toEqual(before);
});

test('a record with a missing or wrong field is invalid_record', async () => {
  const whole = { type: 'A', name: 'whole', content: '192.0.2.1' };
  const { type, name, content } = whole;
  const wrong = [{ name, content }, { type, name }, {}, { ...whole, type: 1 }, { ...whole, name: 1 }];
  for (const record of [...wrong, { ...whole, content: 1 }, { ...whole, ttl: 'x' }])
    expect([record, ...codeOf(await add(record))]).toEqual([record, 400, 'invalid_record']);
});

test('CNAME, duplicate and delegation conflicts are refused', async () => {
  expect((await add({ type: 'A', name: 'one', content: '192.0.2.1' })).status).toBe(200);
  expect((await add({ type: 'A', name: 'one', content: '192.0.2.2' })).status).toBe(200);
  expect((await add({ type: 'CNAME', name: 'two', content: 'example.com' })).status).toBe(200);
  expect((await add({ type: 'NS', name: 'three', content: 'ns.example.com' })).status).toBe(200);
  for (const record of [
    { type: 'CNAME', name: 'one', content: 'example.com' },
    { type: 'A', name: 'ONE', content: '192.0.2.1' },
    { type: 'TXT', name: 'two', content: 'x' },
    { type: 'CNAME', name: 'two', content: 'example.org' },
    { type: 'A', name: 'three', content: '192.0.2.1' },
    { type: 'NS', name: 'one', content: 'ns.example.com' },
  ]) {
    expect([record, ...codeOf(await add(record))]).toEqual([record, 400, 'invalid_record']);
  }
  expect(((await fixture.zone(`one.${domain.domain}`, 'A')).answers as string[]).sort()).toEqual([
    '192.0.2.1',
    '192.0.2.2',
  ]);
});

test('the platform’s own records are listed, and protected', async () => {
  const { body } = await owner.call('GET', `/v1/domains/${domain.id}/records?limit=200`);
  const own = body.items.filter(({ managed }: { managed: boolean }) => managed);
  expect(own.map(({ type }: { type: string }) => type)).toEqual(['NS', 'NS', 'A', 'AAAA']);
  for (const { record_id } of own) {
    expect(codeOf(await owner.call('DELETE', `/v1/domains/${domain.id}/records/${record_id}`))).toEqual([
      400,
      'invalid_record',
    ]);
  }
  expect((await fixture.zone(domain.domain, 'A')).answers).toEqual(['127.0.0.1']);
  const unknown = await owner.call('DELETE', `/v1/domains/${domain.id}/records/rec_01h455vb4pex5vsknk084sn02q`);
  expect(codeOf(unknown)).toEqual([404, 'not_found']);
});

test('the list has pages and omits nothing', async () => {
  const own = await fixture.active(owner, 'nameservers');
  for (let at = 0; at < 5; at++) await add({ type: 'A', name: `p${at}`, content: '192.0.2.1' }, own);
  const names: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await owner.call('GET', `/v1/domains/${own.id}/records?limit=2${cursor}`);
    names.push(...body.items.map(({ record_id }: { record_id: string }) => record_id));
    if (body.next_cursor === null) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect([names.length, new Set(names).size]).toEqual([9, 9]);
});

test('records of a domain with DNS elsewhere are records_not_managed', async () => {
  const elsewhere = await fixture.bring(owner, 'cname');
  expect(codeOf(await owner.call('GET', `/v1/domains/${elsewhere.id}/records`))).toEqual([409, 'records_not_managed']);
  expect(codeOf(await add({ type: 'A', name: 'x', content: '192.0.2.1' }, elsewhere))).toEqual([
    409,
    'records_not_managed',
  ]);
});

test('records that the name server refuses are record_rejected, and not stored', async () => {
  const name = `beside.${domain.domain}`;
  const before = (await owner.call('GET', `/v1/domains/${domain.id}/records`)).body.items.length;
  // Beside what is asked of it, what cannot stand there: no rule of ours lets such a record through by itself.
  const zones = fixture.deps.zones as Zones;
  const { replace } = zones;
  const text = { name: `${name}.`, type: 'TXT', ttl: 60, contents: ['"x"'] };
  vi.spyOn(zones, 'replace').mockImplementationOnce((zone, sets) => replace(zone, [...sets, text]));
  const answer = await add({ type: 'CNAME', name, content: 'elsewhere.example.com' });
  expect(codeOf(answer)).toEqual([400, 'record_rejected']);
  expect(answer.text).not.toMatch(/pdns|powerdns|rrset|conflict/i);
  expect((await owner.call('GET', `/v1/domains/${domain.id}/records`)).body.items.length).toBe(before);
  expect((await fixture.zone(name, 'CNAME')).answers).toEqual([]);
});

test('twenty concurrent calls lose no record', async () => {
  const own = await fixture.active(owner, 'nameservers');
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => add({ type: 'TXT', name: 'many', content: `number ${at}` }, own)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  const { answers: texts } = await fixture.zone(`many.${own.domain}`, 'TXT');
  expect(new Set(texts as string[]).size).toBe(20);
});

test('a record whose answer was lost is added once, and not after its removal', async () => {
  const path = `/v1/domains/${domain.id}/records`;
  const lose = async (name: string) => {
    const body = { type: 'A', name, content: '192.0.2.9' };
    const send = () => owner.call('POST', path, { body, headers: { 'idempotency-key': name } });
    const restore = loseNextAnswer(fixture, 'transactional');
    expect((await send()).status).toBe(500);
    restore();
    return send;
  };
  const listed = async (name: string) => {
    const { items } = (await owner.call('GET', `${path}?limit=200`)).body;
    return items.filter((record: { name: string }) => record.name.startsWith(name));
  };
  const send = await lose('once');
  expect([(await send()).body]).toEqual(await listed('once'));
  const again = await lose('gone');
  const [{ record_id }] = await listed('gone');
  expect((await owner.call('DELETE', `${path}/${record_id}`)).status).toBe(200);
  for (let times = 0; times < 2; times++) expect(codeOf(await again())).toEqual([404, 'not_found']);
  expect((await fixture.zone(`gone.${domain.domain}`, 'A')).answers).toEqual([]);
  expect(fixture.takeUnexpected()).toHaveLength(2);
});
