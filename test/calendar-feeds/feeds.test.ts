/** The secret addresses at which owners' calendar programs read the bookings of a site. */
import ICAL from 'ical.js';
import { afterAll, describe, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { blockAccount } from '#db/accounts/blocks.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { type Caller, callWith, errorOf } from '#test/api/fixture.ts';
import { createBookingFixture } from '#test/bookings/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { attachAccount, payingEnv } from '#test/payments/fixture.ts';

const fixture = await createBookingFixture(payingEnv(9));
afterAll(() => fixture.close());
const { newBookable, book, slots, dateIn } = fixture;

async function opened(input: object = timetable({ calendar: { capacity: 3 } })) {
  const made = await newBookable(input);
  const path = `/v1/sites/${made.site.id}/calendar-feeds`;
  const make = async ({ call }: Pick<Caller, 'call'> = made.owner) => (await call('POST', path)).body;
  return { ...made, path, make, list: async () => (await made.owner.call('GET', path)).body.items };
}

const read = (url: string, headers: Record<string, string> = {}) =>
  fetch(`${fixture.url}${new URL(url).pathname}`, { headers });
const statusOf = async (url: string) => (await read(url)).status;
const eventsOf = (file: string) =>
  new ICAL.Component(ICAL.parse(file)).getAllSubcomponents('vevent').map((one) => ({
    event: new ICAL.Event(one),
    status: one.getFirstPropertyValue('status'),
    url: one.getFirstPropertyValue('url'),
  }));

describe('a calendar feed', () => {
  test('is shown once, listed without its address, and revoked', async () => {
    const { owner, site, make, list, path } = await opened();
    const { url, ...shown } = await make();
    expect(url).toMatch(new RegExp(`^${fixture.config.baseUrl}/calendar/frk_[\\w-]{43}\\.ics$`));
    expect(shown).toMatchObject({ site_id: site.id, created_by: owner.accountId, status: 'open', expires_at: null });
    expect(await list()).toEqual([shown]);
    expect(await statusOf(url)).toBe(200);
    const ended = await owner.call('DELETE', `/v1/calendar-feeds/${shown.id}`);
    expect(ended.body).toEqual({ ...shown, status: 'ended', ended_at: expect.any(String) });
    expect((await owner.call('DELETE', `/v1/calendar-feeds/${shown.id}`)).body).toEqual(ended.body);
    expect([await statusOf(url), await statusOf(`${fixture.config.baseUrl}/calendar/frk_x.ics`)]).toEqual([404, 404]);

    const secret = /frk_[\w-]+/.exec(url)?.[0] ?? '-';
    const [row] = await fixture.deps
      .em()
      .execute('select f::text as row from calendar_feed f where id = ?', [shown.id]);
    expect(row?.row).not.toContain(secret);
    expect(JSON.stringify(fixture.logged)).not.toContain(secret);
    const headers = { 'idempotency-key': 'feed-once' };
    const [one, two] = [await owner.call('POST', path, { headers }), await owner.call('POST', path, { headers })];
    expect([one.status, two.body]).toEqual([200, one.body]);
  });

  test('has the bookings, holds and blocks, with no words of visitors but their names', async () => {
    const intake = [{ name: 'topic', label: 'Topic', kind: 'text' }];
    const [talk] = timetable({ service: { intake } }).services;
    const price = { amount: 1000, currency: 'EUR' };
    const { owner, site, make, publicId } = await opened({
      ...timetable({ calendar: { capacity: 3 } }),
      services: [talk, { ...talk, key: 'paid', name: 'Paid, talk', price }],
    });
    await attachAccount(fixture, owner, site.id);
    const [first, second, third] = await slots(publicId, dateIn(5));
    const taken = (await book(publicId, first?.start ?? '', { intake: { topic: 'My secret' } })).body;
    const held = (await book(publicId, second?.start ?? '', { service: 'paid' })).body;
    const gone = (await book(publicId, third?.start ?? '')).body;
    await owner.call('POST', `/v1/bookings/${gone.id}/cancel`);
    const body = { kind: 'block', calendar: 'room', start: third?.start, end: third?.end };
    const block = (await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body })).body;

    const { url } = await make();
    const answer = await read(url);
    const file = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/calendar; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('private, no-cache');
    const events = eventsOf(file).map(({ event, status }) => [
      event.uid.split('@')[0],
      event.summary,
      event.startDate.toJSDate().getTime(),
      status,
    ]);
    const at = (slot: { start: string } | undefined) => Date.parse(slot?.start ?? '');
    expect(events).toEqual([
      [taken.id, 'A talk: Ada Visitor', at(first), 'CONFIRMED'],
      [held.id, 'Paid, talk: Ada Visitor (not paid yet)', at(second), 'TENTATIVE'],
      [block.id, 'Blocked', at(third), 'CONFIRMED'],
    ]);
    expect(file).not.toMatch(/My secret|example\.org/);
    expect(
      Buffer.from(file)
        .toString('utf8')
        .split('\r\n')
        .every((line) => Buffer.byteLength(line) <= 75),
    ).toBe(true);

    const etag = answer.headers.get('etag') ?? '';
    const same = await read(url, { 'if-none-match': `"other", W/${etag}` });
    expect([same.status, await same.text()]).toEqual([304, '']);
    await owner.call('POST', `/v1/bookings/${taken.id}/cancel`);
    const changed = await read(url, { 'if-none-match': etag });
    expect([changed.status, eventsOf(await changed.text()).length]).toEqual([200, 2]);
  });

  test('says where bookings are, with the link of a confirmed one alone', async () => {
    const [place, link] = ['Mill Lane 3; Bath', 'https://meet.example/room-1'];
    const [talk] = timetable().services;
    const price = { amount: 1000, currency: 'EUR' };
    const { owner, site, make, publicId } = await opened({
      ...timetable({ calendar: { capacity: 9, place } }),
      services: [talk, { ...talk, key: 'call', link }, { ...talk, key: 'paid', link, price }],
    });
    await attachAccount(fixture, owner, site.id);
    const [slot] = await slots(publicId, dateIn(5));
    const made = await Promise.all(
      ['talk', 'call', 'paid'].map(async (service) => (await book(publicId, slot?.start ?? '', { service })).body),
    );
    const body = { kind: 'block', calendar: 'room', start: slot?.start, end: slot?.end, seats: 1 };
    const block = (await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body })).body;
    const file = await (await read((await make()).url)).text();
    const shown = eventsOf(file).map(({ event, url }) => [event.uid.split('@')[0], event.location, url]);
    const own = made.map(({ id }) => id);
    expect(shown).toHaveLength(4);
    expect(shown).toContainEqual([own[0], place, expect.stringContaining(site.name)]);
    expect(shown).toContainEqual([own[1], link, link]);
    expect(made[2].status).toBe('held');
    expect(shown).toContainEqual([own[2], 'Room', expect.stringContaining(site.name)]);
    expect(shown).toContainEqual([block.id, 'Room', expect.stringContaining(site.name)]);
  });

  test('ends with the access of the person and the token that made it', async () => {
    const { owner, site, make } = await opened();
    const guest = await fixture.newCollaborator(owner, site.id);
    const short = await issueToken(fixture.deps.em(), fixture.clock, owner.accountId, {
      name: 'short',
      expiresAt: new Date(fixture.clock.now().getTime() + 3600_000),
    });
    const brief = await make({ call: callWith(fixture.url, short.secret) });
    expect(Date.parse(brief.expires_at)).toBeGreaterThan(fixture.clock.now().getTime());
    const [ours, theirs] = [(await make()).url, (await make(guest)).url];
    const all = () => Promise.all([ours, theirs, brief.url].map(statusOf));
    expect(await all()).toEqual([200, 200, 200]);
    await fixture.deps.em().nativeDelete(Collaborator, { site: site.id, account: guest.accountId });
    await fixture.deps.em().execute('update calendar_feed set expires_at = now() where id = ?', [brief.id]);
    expect(await all()).toEqual([200, 404, 404]);
    await owner.call('POST', `/v1/sites/${site.id}/archive`);
    expect(await all()).toEqual([200, 404, 404]);
    const refused = await owner.call('POST', `/v1/sites/${site.id}/calendar-feeds`);
    expect(errorOf(refused).code).toBe('site_archived');
    await blockAccount(fixture.deps.em(), fixture.deps, owner.accountId, 'It sells what it has not.');
    expect(await all()).toEqual([404, 404, 404]);
  });

  test('has at most 1,000 bookings, those to come first', async () => {
    const { site, make } = await opened();
    const { url } = await make();
    const fill = (kind: 'past' | 'next', count: number) =>
      fixture.deps.em().execute(
        `insert into booking (id, site_id, calendar_id, reference, status, service_key, service_name, starts_at, ends_at, busy_from, busy_until,
         seats, visitor_name, visitor_hash, intake, cancel_hash, created_at)
       select 'book_' || k || n, site_id, id, k || n, 'confirmed', 'talk', 'Talk', at, at + interval '1 minute', at, at + interval '1 minute',
         1, 'V', sha256(n::text::bytea), '[]', sha256((site_id || k || n)::bytea), now()
       from calendar, (values (?::text)) kinds (k), generate_series(1, ?::int) n,
         lateral (select now() + case k when 'past' then -n * interval '20 minutes' else n * interval '2 hours' end as at) times
       where site_id = ?`,
        [kind, count, site.id],
      );
    const shown = async () =>
      eventsOf(await (await read(url)).text()).map(({ event }) => event.uid.replace(/^book_|@.*/g, ''));
    await fill('past', 1010);
    await fill('next', 3);
    const newest = Array.from({ length: 997 }, (_, at) => `past${997 - at}`);
    expect(await shown()).toEqual([...newest, 'next1', 'next2', 'next3']);
    await fixture.deps.em().execute(`delete from booking where site_id = ? and id like 'book_next%'`, [site.id]);
    await fill('next', 1010);
    expect(await shown()).toEqual(Array.from({ length: 1000 }, (_, at) => `next${at + 1}`));
  });

  test('is limited in number and reads', async () => {
    const scaled = await createBookingFixture({ FRONTAGE_RATE_SCALE: '0.1' });
    try {
      const { owner, site } = await scaled.newBookable();
      const path = `/v1/sites/${site.id}/calendar-feeds`;
      const made = await Promise.all(Array.from({ length: 22 }, () => owner.call('POST', path)));
      expect(made.filter(({ status }) => status === 200)).toHaveLength(20);
      expect(errorOf(made.find(({ status }) => status !== 200) as never).code).toBe('plan_limit');
      const address = made.find(({ status }) => status === 200)?.body.url ?? '';
      const reads = Array.from({ length: 4 }, () => fetch(`${scaled.url}${new URL(address).pathname}`));
      const statuses = (await Promise.all(reads)).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, 200, 200, 429]);
    } finally {
      await scaled.close();
    }
  });
});
