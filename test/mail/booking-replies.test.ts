/** The address to which visitors reply to e-mails about their bookings. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeAccountRows } from '#db/accounts/purge.ts';
import { queueDueReminders } from '#db/bookings/change-mails.ts';
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter, withText } from '#db/mail/queue.ts';
import { removeSiteRows } from '#db/sites/purge.ts';
import { type Answer, errorOf } from '#test/api/fixture.ts';
import { type BookingFixture, createBookingFixture } from '#test/bookings/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { addVersion } from '#test/console/fixture.ts';
import { attachAccount, payingEnv } from '#test/payments/fixture.ts';
import { writeMail } from '#web/mails/mails.ts';

let fixture: BookingFixture;
beforeAll(async () => {
  fixture = await createBookingFixture({ FRONTAGE_RATE_SCALE: '1000', ...payingEnv(9) });
});
afterAll(() => fixture?.close());

const visitor = { name: 'Ada Visitor', email: 'ada@example.org', notify_changes: true, remind: true };

async function queuedOf(siteId: string) {
  const mails = await fixture.deps
    .em()
    .find(Mail, { siteId, status: 'queued' }, { ...withText, orderBy: { id: 'asc' } });
  return mails.map(({ id, kind, sealed }) => ({
    kind,
    ...decryptLetter({ id, sealed: sealed as Uint8Array }, fixture.config.encryptionKeys),
  }));
}
/** The kinds of the site's mails, with recipient and Reply-To. */
const lettersOf = async (siteId: string) =>
  (await queuedOf(siteId)).map(({ kind, to, replyTo }) => ({ kind, to, replyTo }));
const toVisitor = async (siteId: string) => (await lettersOf(siteId)).filter(({ to }) => to === visitor.email);

async function opened(input: object = timetable({ calendar: { capacity: 9 } })) {
  const made = await fixture.newBookable(input);
  const declare = (more: object, body: object = input): Promise<Answer> =>
    made.owner.call('POST', `/v1/sites/${made.site.id}/bookable`, { body: { ...body, ...more } });
  const read = async () => (await made.owner.call('GET', `/v1/sites/${made.site.id}/bookable`)).body;
  const [start = '', later = ''] = (await fixture.slots(made.publicId, fixture.dateIn(5))).map((slot) => slot.start);
  return { ...made, declare, read, start, later };
}

test('reply_to is null, one of notify_options, and stays until it is changed', async () => {
  const { bookable, declare, read, owner } = await opened();
  expect(bookable.reply_to).toBeNull();
  const email = await fixture.emailOf(owner);
  expect((await declare({ reply_to: email })).body).toMatchObject({ reply_to: email, notify_options: [email] });
  expect((await declare({})).body.reply_to).toBe(email);
  expect((await declare({ reply_to: null })).body.reply_to).toBeNull();
  expect((await read()).reply_to).toBeNull();
  for (const [reply_to, code] of [
    ['stranger@example.com', 'notify_to_not_on_site'],
    ['nothing', 'invalid_notify_to'],
    [7, 'invalid_notify_to'],
  ])
    expect(errorOf(await declare({ reply_to })).code).toBe(code);
});

test('e-mails to visitors carry it, and notices keep the visitor’s', async () => {
  const { site, owner, publicId, declare, start, later } = await opened();
  const replyTo = await fixture.emailOf(owner);
  await declare({ reply_to: replyTo });
  const { id } = (await fixture.book(publicId, start, { visitor })).body;
  expect(await lettersOf(site.id)).toEqual([
    { kind: 'booking-confirmed', to: visitor.email, replyTo },
    { kind: 'booking-taken', to: replyTo, replyTo: visitor.email },
  ]);
  await owner.call('POST', `/v1/bookings/${id}/move`, { body: { start: later } });
  expect(await toVisitor(site.id)).toEqual([{ kind: 'booking-moved', to: visitor.email, replyTo }]);
  await owner.call('POST', `/v1/bookings/${id}/cancel`);
  expect(await toVisitor(site.id)).toEqual([{ kind: 'booking-cancelled', to: visitor.email, replyTo }]);
});

test('a cancellation names no address that is closed', async () => {
  const textOf = async ({ isLive = false, isReachable = false }) => {
    const { site, owner, publicId, declare, start } = await opened();
    if (isReachable) await declare({ reply_to: await fixture.emailOf(owner) });
    const { id } = (await fixture.book(publicId, start, { visitor })).body;
    if (isLive) await addVersion(fixture, site.id, 'live');
    else expect((await owner.call('POST', `/v1/sites/${site.id}/archive`)).status).toBe(200);
    expect((await owner.call('POST', `/v1/bookings/${id}/cancel`)).status).toBe(200);
    const letters = await queuedOf(site.id);
    const told = letters.find(({ kind, to }) => kind === 'booking-cancelled' && to === visitor.email);
    const { text } = writeMail('booking-cancelled', told?.data as never, { baseUrl: fixture.config.baseUrl });
    return { text, email: await fixture.emailOf(owner) };
  };
  expect((await textOf({ isLive: true })).text).toContain('To book another time or ask why, go to http');
  const reachable = await textOf({ isReachable: true });
  expect(reachable.text).toContain(`To ask why, write to ${reachable.email}`);
  for (const { text } of [reachable, await textOf({})]) expect(text).not.toMatch(/go to http|another time/);
  expect((await textOf({})).text).not.toContain('ask why');
});

test('reminders and pay links carry it too', async () => {
  const priced = timetable({ service: { price: { amount: 1000, currency: 'EUR' } } });
  const held = await opened(priced);
  await attachAccount(fixture, held.owner, held.site.id);
  const payee = await fixture.emailOf(held.owner);
  await held.declare({ reply_to: payee });
  await fixture.book(held.publicId, held.start, { visitor });
  expect(await toVisitor(held.site.id)).toEqual([{ kind: 'booking-held', to: visitor.email, replyTo: payee }]);

  const { site, owner, publicId, declare, start } = await opened();
  const replyTo = await fixture.emailOf(owner);
  await declare({ reply_to: replyTo });
  const { id } = (await fixture.book(publicId, start, { visitor })).body;
  await fixture.deps.em().execute('update booking set remind_at = ? where id = ?', [fixture.clock.now(), id]);
  expect(await queueDueReminders(fixture.deps)).toBe(1);
  expect(await toVisitor(site.id)).toContainEqual({ kind: 'booking-reminder', to: visitor.email, replyTo });
});

test('replies go to a changed address, and to no former member', async () => {
  const { site, owner, publicId, declare, read, start } = await opened();
  const member = await fixture.newCollaborator(owner, site.id);
  await declare({ reply_to: await fixture.emailOf(member) });
  const changed = `changed-${site.name}@example.com`;
  await fixture.deps.em().execute('update account set email = ? where id = ?', [changed, member.accountId]);
  expect((await read()).reply_to).toBe(changed);
  await fixture.remove(owner, site.id, member.accountId);
  expect((await read()).reply_to).toBeNull();
  await fixture.book(publicId, start, { visitor });
  expect(await toVisitor(site.id)).toEqual([{ kind: 'booking-confirmed', to: visitor.email }]);
});

test('a purge of the site or the account forgets it', async () => {
  const em = fixture.deps.em();
  const isStored = async (siteId: string) =>
    (await em.execute('select 1 from bookable where site_id = ? and reply_to_id is not null', [siteId])).length === 1;
  const one = await opened();
  await one.declare({ reply_to: await fixture.emailOf(one.owner) });
  expect(await isStored(one.site.id)).toBe(true);
  await removeSiteRows(fixture.deps.em(), fixture.clock, one.site.id);
  expect(await isStored(one.site.id)).toBe(false);

  const two = await opened();
  const member = await fixture.newCollaborator(two.owner, two.site.id);
  await two.declare({ reply_to: await fixture.emailOf(member) });
  await removeAccountRows(fixture.deps.em(), fixture.clock, member.accountId);
  expect(await isStored(two.site.id)).toBe(false);
});
