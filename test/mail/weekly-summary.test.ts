/** The weekly summary of an owner's sites. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Payment } from '#db/payments/payment.ts';
import { queueWeeklySummaries } from '#db/summaries/mails.ts';
import { dueWeek } from '#db/summaries/week.ts';
import { dayMs, hourMs } from '#rules/time.ts';
import { newId } from '#runtime/ids.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { bookings } from '#test/bookings/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { showDraft } from '#test/comments/drafts.ts';
import { ada, challengeEnv, forms } from '#test/forms/fixture.ts';
import { attachAccount } from '#test/payments/fixture.ts';
import { until } from '#test/stack/until.ts';
import { createMailFixture, type MailFixture } from './fixture.ts';
import { mailOwners, stalledAtQueue } from './owner-mails.ts';
import { noParts, type Summaries, summaries } from './summaries.ts';

let fixture: MailFixture;
let { skipToMonday, summarised, visitedOnDay } = {} as Summaries;
beforeAll(async () => {
  fixture = await createMailFixture({}, challengeEnv);
  ({ skipToMonday, summarised, visitedOnDay } = summaries(fixture));
}, 60_000);
afterAll(() => fixture?.close());

const sketch = Buffer.from([0, 1, 1, 0, 2, 1]);
const none = { id: '', name: '' };

/** Two visitors in an hour that is not rolled up, as an edge counts them. */
const visited = (siteId: string, at: Date) =>
  fixture.deps.em().execute(
    `insert into view_hour (site_id, hour, writer, views, sketch, pages, referrers, countries, devices)
     values (?, ?, 'test', 5, ?, ${noParts})`,
    [siteId, at, sketch],
  );

type Paid = Pick<Payment, 'amount'> &
  Partial<Pick<Payment, 'status' | 'refundedAt' | 'refundedAmount' | 'refundingAmount'>>;

/** Links of the site that were paid then. */
async function paid(owner: { accountId: string }, siteId: string, at: Date, payments: Paid[]): Promise<void> {
  const { id: payoutAccount } = await attachAccount(fixture, owner, siteId);
  const em = fixture.deps.em();
  const common = { site: siteId, payoutAccount, currency: 'EUR', createdAt: at, paidAt: at, expiresAt: at };
  for (const payment of payments) em.create(Payment, { id: newId('pay'), status: 'paid', ...common, ...payment });
  await em.flush();
}

test('a week ends on Monday at midnight and is due for two days', () => {
  const week = { from: new Date('2026-11-16T00:00:00Z'), until: new Date('2026-11-23T00:00:00Z') };
  const due = (at: string) => dueWeek(new Date(at));
  expect(due('2026-11-23T05:59:59Z')).toBe(null);
  expect(due('2026-11-23T06:00:00Z')).toEqual(week);
  expect(due('2026-11-24T23:59:59Z')).toEqual(week);
  expect(due('2026-11-25T00:00:00Z')).toBe(null);
  expect(due('2026-11-22T12:00:00Z')).toBe(null);
});

test('the summary counts what happened on each site in the seven days', async () => {
  const { owner, sites, hostnames, received, queued } = await summarised(3);
  const [busy = none, quiet = none] = sites;
  const { days } = skipToMonday(5);
  const [monday, , wednesday] = days as [Date, Date, Date];
  const sunday = days[6] as Date;
  const before = new Date(monday.getTime() - hourMs);
  await visitedOnDay(busy.id, wednesday, 40);
  await visitedOnDay(busy.id, new Date(monday.getTime() - dayMs), 1000);
  await visited(busy.id, new Date(sunday.getTime() + 23 * hourMs));
  await visited(busy.id, new Date(sunday.getTime() + 24 * hourMs));
  await paid(owner, busy.id, wednesday, [
    { amount: 1250 },
    { amount: 9000, refundedAmount: 1000, refundingAmount: 500 },
    { amount: 70_000, status: 'refunded', refundedAt: wednesday },
    { amount: 600_000, status: 'refunding' },
  ]);
  await paid(owner, quiet.id, before, [{ amount: 500 }]);
  await owner.call('POST', `/v1/sites/${busy.id}/comments`, { body: { page: '/', body: 'Larger, please' } });
  const { deploymentId } = await showDraft(fixture, { siteId: busy.id, accountId: owner.accountId, slot: 1 }, '<p>x');
  await fixture.deps
    .em()
    .execute(`update deployment set kind = 'site', slot = null, live_at = ? where id = ?`, [wednesday, deploymentId]);
  await visitedOnDay(quiet.id, wednesday, 1);
  await mailOwners(fixture);
  expect(await queued()).toBe(0);
  fixture.skip(2 * hourMs);
  await mailOwners(fixture);
  const { subject = '', text = '' } = (await received()) ?? {};
  expect(subject).toBe('Your week: 43 visits');
  const [first = '', second = '', ...others] = text.split(/\n\n(?=\S+\n\nVisits)/).slice(1);
  expect(first).toContain(`${hostnames[0]}\n\nVisits: 42\nPayments: 2 (€87.50)\nPublished: 1 time\nOpen comments: 1`);
  expect(second).toContain(`${hostnames[1]}\n\nVisits: 1\n`);
  expect(others).toEqual([]);
  expect(text).toContain(`${fixture.config.baseUrl}/account/mails`);
  expect(text).not.toContain('Larger');
});

test('enquiries and bookings count, without spam, blocks and cancelled ones', async () => {
  const { owner, received } = await summarised(0);
  const ask = { ...forms(fixture), ...bookings(fixture) };
  const { site } = await ask.newBookable(timetable(), owner);
  const form = await ask.newForm(owner, {}, { ...site, address: '' });
  for (const name of ['Ada', 'Grace', 'Spam']) await ask.send(form.id, { ...ada, name });
  const [spam] = (await ask.submissions(owner, form.id)).body.items;
  await owner.call('PATCH', `/v1/submissions/${spam.id}`, { body: { spam: true } });
  const book = async (days: number, more: object = { kind: 'booking', service: 'talk' }) => {
    const start = new Date(`${ask.dateIn(days)}T10:00:00Z`);
    const end = new Date(start.getTime() + hourMs);
    const body = { calendar: 'room', start, ...more, ...('service' in more ? {} : { end }) };
    const { status, body: made, text } = await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body });
    expect([status, text]).toEqual([200, text]);
    return made.id;
  };
  await book(20);
  await owner.call('POST', `/v1/bookings/${await book(21)}/cancel`);
  await book(22, { kind: 'block' });
  skipToMonday(7);
  await mailOwners(fixture);
  const { subject, text = '' } = (await received()) ?? {};
  expect(subject).toBe(`${siteHostname(fixture.config, site.name)}: Your week: 0 visits, 2 messages, 1 booking`);
  expect(text).toContain('Visits: 0\nMessages: 2\nBookings: 1\n');
});

test('a week without events has no summary, nor has an unasked one', async () => {
  const [idle, unasked] = [await summarised(), await summarised()];
  await fixture.deps.em().execute('update account set mail_choices = null where id = ?', [unasked.owner.accountId]);
  const { days } = skipToMonday(7);
  await visitedOnDay(unasked.sites[0]?.id ?? '', days[0] as Date, 9);
  await queueWeeklySummaries(fixture.deps);
  expect([await idle.queued(), await unasked.queued()]).toEqual([0, 0]);
});

test('concurrent rounds, also of later days, send one summary', async () => {
  const { sites, queued, received } = await summarised();
  const { days } = skipToMonday(7);
  await visitedOnDay(sites[0]?.id ?? '', days[0] as Date, 9);
  const rounds = await Promise.all(Array.from({ length: 6 }, () => queueWeeklySummaries(fixture.deps)));
  expect(rounds.reduce((sum, count) => sum + count, 0)).toBe(1);
  await received();
  fixture.skip(dayMs);
  await mailOwners(fixture);
  expect(await queued()).toBe(1);
  const next = skipToMonday(7);
  await visitedOnDay(sites[0]?.id ?? '', next.days[0] as Date, 3);
  await mailOwners(fixture);
  expect(await queued()).toBe(2);
});

test('the account is not locked while its sites are counted', async () => {
  const { owner, sites, queued } = await summarised();
  const { days } = skipToMonday(7);
  await visitedOnDay(sites[0]?.id ?? '', days[0] as Date, 9);
  const em = fixture.deps.em();
  await em.execute('update account set mail_choices = null where id <> ?', [owner.accountId]);
  const counting = await em.transactional(async (tx) => {
    await tx.execute('lock table comment_thread in access exclusive mode');
    const round = queueWeeklySummaries(fixture.deps);
    const waits = `select 1 from pg_locks where relation = 'comment_thread'::regclass and not granted`;
    await until(
      () => em.fork().execute<unknown[]>(waits),
      ({ length }) => length > 0,
    );
    await tx.execute('select 1 from account where id = ? for update nowait', [owner.accountId]);
    return { round };
  });
  await counting.round;
  expect(await queued()).toBe(1);
});

test('a connection lost while the summary is queued loses and repeats nothing', async () => {
  const { sites, queued, received } = await summarised();
  const { days } = skipToMonday(7);
  await visitedOnDay(sites[0]?.id ?? '', days[0] as Date, 9);
  await stalledAtQueue(fixture, async (stalled) => {
    const lost = queueWeeklySummaries(fixture.deps).catch((error: unknown) => error);
    const pid = await stalled();
    await fixture.deps.em().execute('select pg_terminate_backend(?)', [pid]);
    expect(await lost).toBeInstanceOf(Error);
  });
  expect(await queued()).toBe(0);
  await mailOwners(fixture);
  await received();
  expect(await queued()).toBe(1);
});
