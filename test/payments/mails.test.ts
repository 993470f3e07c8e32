/** E-mails and inbox items about payments by link, as they arrive. */
import { expect, test } from 'vitest';
import { giveBackCharge, refundActivities } from '#activities/payments/refunds.ts';
import { chooseMails } from '#db/accounts/mail-choices.ts';
import { Mail } from '#db/mail/mail.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { mailChoiceNames } from '#rules/mail-choices.ts';
import type { Caller } from '#test/api/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { until } from '#test/stack/until.ts';
import { heldIn } from './held.ts';
import { type MailedFixture, useMailedFixture } from './mailed-fixture.ts';

let fixture: MailedFixture;
useMailedFixture((made) => {
  fixture = made;
});
const received: MailedFixture['received'] = (...asked) => fixture.received(...asked);

const items = async (owner: Caller, kind: string) =>
  (await owner.call('GET', '/v1/inbox')).body.items.filter((item: { kind: string }) => item.kind === kind);

const said = { description: 'Two “Sunday” loaves', reference: 'till-12' };

async function paidBy(email: string) {
  const made = await fixture.newPayment({}, said);
  const notice = await fixture.emailOf(made.owner);
  await fixture.press((await fixture.openLink(made.payUrl)).page, 'pay', { email });
  return { ...made, notice };
}

test('the site’s people and the payer receive an e-mail about a payment', async () => {
  const email = 'ada-receipt@example.org';
  const { id, owner, site, notice } = await paidBy(email);
  const told = await received(notice, /: Payment received: €12\.50$/);
  for (const part of [said.description, said.reference, email, id]) expect(told.text).toContain(part);
  expect(told.text).toContain(`Choose which e-mails you get: ${fixture.config.baseUrl}/account/mails`);
  const receipt = await received(email, /: Receipt for your payment of €12\.50$/);
  for (const part of [said.description, '€12.50', id, 'Website: ']) expect(receipt.text).toContain(part);
  expect(receipt.text).not.toContain(said.reference);
  expect(await items(owner, 'payment_paid')).toEqual([
    expect.objectContaining({
      id,
      site: expect.objectContaining({ id: site.id }),
      slot: null,
      who: null,
      title: expect.stringContaining('€12.50 was paid'),
      message: said.reference,
    }),
  ]);
});

test('an owner who wants no mails about payments gets none, and the payer does', async () => {
  const email = 'ada-unwanted@example.org';
  const made = await fixture.newPayment({}, said);
  const notice = await fixture.emailOf(made.owner);
  const wanted = mailChoiceNames.filter((name) => name !== 'payments');
  await chooseMails(fixture.deps.em(), fixture.clock, { accountId: made.owner.accountId }, wanted);
  await fixture.press((await fixture.openLink(made.payUrl)).page, 'pay', { email });
  await received(email, /: Receipt for your payment of €12\.50$/);
  const em = fixture.deps.em();
  expect(await em.count(Mail, { kind: 'payment-received', siteId: made.site.id })).toBe(0);
  expect(fixture.mailsTo(notice)).toEqual([]);
  expect((await items(made.owner, 'payment_paid')).map(({ id }: { id: string }) => id)).toEqual([made.id]);
});

test('the payer’s mails leave out a description with an address', async () => {
  const email = 'ada-linked@example.org';
  const { id, owner, payUrl } = await fixture.newPayment({}, said);
  // A payment of an earlier release may have one, and so may the name of a service.
  await fixture.deps.em().execute(`update payment set description = 'Confirm on bank.example.com' where id = ?`, [id]);
  await fixture.press((await fixture.openLink(payUrl)).page, 'pay', { email });
  const told = await received(await fixture.emailOf(owner), /: Payment received: €12\.50$/);
  expect(told.text).toContain('bank.example.com');
  await owner.call('POST', `/v1/payments/${id}/refund`);
  for (const subject of [/: Receipt for your payment of €12\.50$/, /: Your refund of €12\.50$/]) {
    const { text } = await received(email, subject);
    expect([text.includes(id), text.includes('bank.example.com')]).toEqual([true, false]);
  }
});

test('a receipt names the host in place of a title with an address', async () => {
  const email = 'ada-titled@example.org';
  const made = await fixture.newPayment({}, said);
  const title = 'Renew at www.evil-bank.com';
  expect((await made.owner.call('PATCH', `/v1/sites/${made.site.id}`, { body: { title } })).status).toBe(200);
  await fixture.press((await fixture.openLink(made.payUrl)).page, 'pay', { email });
  const receipt = await received(email, /Receipt/);
  expect(receipt.text).toContain(`Website: ${made.site.name}.`);
  expect(receipt.text).not.toContain('evil');
});

test('a payer’s address is in no row once the e-mails were sent', async () => {
  const email = 'ada-nowhere@example.org';
  const { id, owner } = await paidBy(email);
  await received(email, /Receipt/);
  await owner.call('POST', `/v1/payments/${id}/refund`);
  await received(email, /Your refund of €12\.50/);
  const em = fixture.deps.em();
  await until(
    () => em.fork().count(Mail, { status: 'queued' }),
    (count) => count === 0,
  );
  const tables = await em.execute<{ name: string }[]>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  for (const { name } of tables) {
    const [row] = await em.execute<{ found: number }[]>(
      `select count(*)::int as found from "${name}" as t where t::text like '%ada-nowhere%'`,
    );
    expect([name, row?.found]).toEqual([name, 0]);
  }
});

test('the payer receives one e-mail about each refund', async () => {
  const email = 'ada-refunds@example.org';
  const { id, owner } = await paidBy(email);
  const headers = { 'idempotency-key': 'a-part' };
  await owner.call('POST', `/v1/payments/${id}/refund`, { body: { amount: 500 }, headers });
  const part = await received(email, /: Your refund of €5\.00$/);
  expect(part.text).toContain(said.description);
  for (const words of [said.reference, 'Refunded before']) expect(part.text).not.toContain(words);
  await owner.call('POST', `/v1/payments/${id}/refund`);
  expect((await received(email, /: Your refund of €7\.50$/)).text).toContain('Refunded before: €5.00');
  const { id: attempt } = await fixture.deps.em().findOneOrFail(PaymentAttempt, { payment: id });
  expect(await giveBackCharge(fixture.deps, attempt)).toBe('refunded');
  expect(fixture.mailsTo(email).filter(({ subject }) => subject.includes('refund'))).toHaveLength(2);
  expect(await items(owner, 'payment_paid')).toEqual([]);
});

test('a failed refund is mailed, and stays in the inbox until requested again', async () => {
  const { id, owner, notice } = await paidBy('');
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  await owner.call('POST', `/v1/payments/${id}/refund`, { headers: { prefer: 'respond-async' } });
  const attempt = await fixture.deps.em().findOneOrFail(PaymentAttempt, { payment: id });
  const { giveUpRefund } = refundActivities(fixture.deps);
  expect(await giveUpRefund(attempt.id, attempt.refundKey ?? '')).toBe('given up');
  fixture.stub.knobs.turnAway = 0;
  expect((await received(notice, /: A refund of €12\.50 failed$/)).text).toContain(said.reference);
  const [item] = await items(owner, 'refund_failed');
  expect(item).toMatchObject({ id, next_action: expect.stringContaining(`/v1/payments/${id}/refund`) });
  expect((await owner.call('POST', `/v1/payments/${id}/refund`)).body.status).toBe('refunded');
  expect(await items(owner, 'refund_failed')).toEqual([]);
});

test('a failed refund of a booking names its visitor in the inbox', async () => {
  const { owner, payUrl, paymentId, statusOf } = await heldIn(fixture);
  await fixture.press((await fixture.openLink(payUrl)).page, 'pay', { email: 'ada-unreturned@example.org' });
  await until(statusOf, (status) => status === 'confirmed');
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  await owner.call('POST', `/v1/payments/${paymentId}/refund`, { headers: { prefer: 'respond-async' } });
  const attempt = await fixture.deps.em().findOneOrFail(PaymentAttempt, { payment: paymentId });
  await refundActivities(fixture.deps).giveUpRefund(attempt.id, attempt.refundKey ?? '');
  fixture.stub.knobs.turnAway = 0;
  expect(await items(owner, 'refund_failed')).toMatchObject([{ id: paymentId, who: 'Ada Visitor' }]);
});

test('a waiting inbox wakes for a payment, which it lists for a week', async () => {
  const { owner, payUrl, id } = await fixture.newPayment();
  const { page } = await fixture.openLink(payUrl);
  const waiting = owner.call('GET', '/v1/inbox?wait=50');
  await fixture.press(page);
  expect((await waiting).body.items).toEqual([expect.objectContaining({ kind: 'payment_paid', id })]);
  await fixture.deps.em().execute(`update payment set paid_at = paid_at - interval '8 days' where id = ?`, [id]);
  expect(await items(owner, 'payment_paid')).toEqual([]);
});

test('the inbox lists the payment of a booking, which has no other receipt', async () => {
  const { owner, payUrl, paymentId, statusOf } = await heldIn(fixture);
  await fixture.press((await fixture.openLink(payUrl)).page, 'pay', { email: 'ada-booked@example.org' });
  await until(statusOf, (status) => status === 'confirmed');
  await received('ada@example.org', /Booked for/);
  expect(await items(owner, 'payment_paid')).toMatchObject([{ id: paymentId, who: 'Ada Visitor' }]);
  expect(fixture.mailsTo('ada-booked@example.org')).toEqual([]);
});

test('a cancelled paid booking says what the visitor and the payer receive', async () => {
  const payer = 'ada-pays@example.org';
  const made = await heldIn(fixture, { wishes: { email: 'ada-books@example.org' } });
  const notifyTo = await fixture.emailOf(made.owner);
  await fixture.press((await fixture.openLink(made.payUrl)).page, 'pay', { email: payer });
  await received('ada-books@example.org', /: Booked for /);
  await until(made.read, ({ mail }) => mail === 'sent');
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  const headers = { 'idempotency-key': 'cancel-untold' };
  const cancel = async () => (await made.owner.call('POST', `/v1/bookings/${made.id}/cancel`, { headers })).body;
  const first = await cancel();
  expect(first).toMatchObject({ mail: null, notice: 'queued', refund: { status: 'refunding', mail: null } });
  expect(first.next_action).toContain('sends the visitor no e-mail about the cancellation');
  expect(first.next_action).toContain(
    `Ask ${notifyTo} to tell Ada Visitor that booking ${first.reference} is cancelled`,
  );
  expect(first.next_action).toContain('When the refund is complete, the payer gets an e-mail');
  fixture.stub.knobs.turnAway = 0;
  const refund = await received(payer, /: Your refund of €25\.00$/);
  expect(refund.text).toContain('The booking that this payment was for is cancelled.');
  const later = await until(cancel, (body) => body.refund.mail === 'sent');
  expect(later).toMatchObject({ mail: null, refund: { status: 'refunded' } });
  expect(later.next_action).toContain('The payer got an e-mail about the refund and the cancellation.');
  const told = await received(notifyTo, /: Cancelled: A talk/);
  expect(told.text).toContain('we e-mail the payer about it, if the payment provider has an address');
  expect(fixture.mailsTo('ada-books@example.org').filter(({ subject }) => /Cancelled/.test(subject))).toEqual([]);
});

test('a cancellation after a refund of everything in parts mails no empty sum', async () => {
  const payer = 'ada-parts@example.org';
  const made = await heldIn(fixture);
  await fixture.press((await fixture.openLink(made.payUrl)).page, 'pay', { email: payer });
  await until(made.statusOf, (status) => status === 'confirmed');
  setForTest(fixture.stub.knobs, { holdRefunds: true });
  const headers = { prefer: 'respond-async', 'idempotency-key': 'all-in-one-part' };
  await made.owner.call('POST', `/v1/payments/${made.paymentId}/refund`, { body: { amount: 2500 }, headers });
  expect((await made.owner.call('POST', `/v1/bookings/${made.id}/cancel`)).status).toBe(200);
  fixture.stub.knobs.holdRefunds = false;
  const em = fixture.deps.em();
  const { id: attempt } = await em.findOneOrFail(PaymentAttempt, { payment: made.paymentId });
  await until(
    () => giveBackCharge(fixture.deps, attempt),
    (outcome) => outcome === 'refunded',
  );
  await received(payer, /: Your refund of €25\.00$/);
  expect(await em.count(Mail, { kind: 'payment-refunded', bookingId: made.paymentId })).toBe(1);
});

test('a refund of a booking carries the site’s reply_to', async () => {
  const payer = 'ada-replies@example.org';
  const made = await heldIn(fixture);
  const replyTo = await fixture.emailOf(made.owner);
  const declared = { calendars: made.bookable.calendars, services: made.bookable.services, reply_to: replyTo };
  expect((await made.owner.call('POST', `/v1/sites/${made.site.id}/bookable`, { body: declared })).status).toBe(200);
  await fixture.press((await fixture.openLink(made.payUrl)).page, 'pay', { email: payer });
  await until(made.statusOf, (status) => status === 'confirmed');
  const headers = { 'idempotency-key': 'a-part-of-a-booking' };
  await made.owner.call('POST', `/v1/payments/${made.paymentId}/refund`, { body: { amount: 500 }, headers });
  const part = await received(payer, /: Your refund of €5\.00$/);
  expect(part.text).toContain('Your booking stays valid.');
  expect(part.text).toMatch(/^Refunded on: .+ \(Europe\/Berlin\)$/m);
  await made.owner.call('POST', `/v1/bookings/${made.id}/cancel`);
  const rest = await received(payer, /: Your refund of €20\.00$/);
  expect([rest.headers['reply-to'], rest.text]).toEqual([
    replyTo,
    expect.stringMatching(/^Paid on: .+ \(Europe\/Berlin\)$/m),
  ]);
  expect(rest.text).not.toContain('stays valid');
});
