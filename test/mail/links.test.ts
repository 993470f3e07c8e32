/** The button of each e-mail to an owner leads to the thing that it is about. E-mails about domains: `test/domains/mails`. */
import { expect, test } from 'vitest';
import { refundActivities } from '#activities/payments/refunds.ts';
import { blockAccount } from '#db/accounts/blocks.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { hourMs, minuteMs } from '#rules/time.ts';
import { type Caller, callWith } from '#test/api/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { commentsOf } from '#test/comments/fixture.ts';
import { secretOf } from '#test/comments/link-fixture.ts';
import { signedIn } from '#test/console/session.ts';
import { challengeEnv, forms } from '#test/forms/fixture.ts';
import { people } from '#test/invitations/fixture.ts';
import { sender } from '#test/output/sending.ts';
import { atRest, heldIn } from '#test/payments/held.ts';
import { type MailedFixture, useMailedFixture } from '#test/payments/mailed-fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { until } from '#test/stack/until.ts';
import { mailOwners } from './owner-mails.ts';

let fixture: MailedFixture;
useMailedFixture((made) => {
  fixture = made;
}, challengeEnv);

/** Who gets the e-mail, its subject, and the path of the page: of the site, or of the account. */
type Told = { owner: Caller; subject: RegExp; path: string };
const pageOf = ({ id }: { id: string }, path: string) => `/account/sites/${id}${path}`;

async function booked() {
  const { owner, site, publicId } = await fixture.newBookable(timetable());
  const times = await fixture.slots(publicId, fixture.dateIn(5));
  const { id } = (await fixture.book(publicId, times[0]?.start ?? '')).body;
  const path = pageOf(site, `/bookings/${id}`);
  return { owner, id, path, later: times[3]?.start };
}

async function paid() {
  const made = await fixture.newPayment();
  await fixture.press((await fixture.openLink(made.payUrl)).page, 'pay');
  await until(made.statusOf, (status) => status === 'paid');
  return { ...made, path: pageOf(made.site, `/payments/${made.id}`) };
}

const mails: [what: string, act: () => Promise<Told>][] = [
  [
    'an enquiry',
    async () => {
      const owner = await fixture.newCaller();
      const ask = forms(fixture);
      const form = await ask.newForm(owner);
      await ask.send(form.id);
      const [{ id }] = (await ask.submissions(owner, form.id)).body.items;
      return { owner, subject: /: New message: Contact$/, path: pageOf(form.site, `/messages/${id}`) };
    },
  ],
  ['a new booking', async () => ({ ...(await booked()), subject: /: New booking: / })],
  [
    'a moved booking',
    async () => {
      const made = await booked();
      await made.owner.call('POST', `/v1/bookings/${made.id}/move`, { body: { start: made.later } });
      return { ...made, subject: /: Moved: / };
    },
  ],
  [
    'a cancelled booking',
    async () => {
      const made = await booked();
      await made.owner.call('POST', `/v1/bookings/${made.id}/cancel`);
      return { ...made, subject: /: Cancelled: / };
    },
  ],
  ['a payment', async () => ({ ...(await paid()), subject: /: Payment received: / })],
  [
    'a failed refund',
    async () => {
      const made = await paid();
      setForTest(fixture.stub.knobs, { turnAway: 1 });
      await made.owner.call('POST', `/v1/payments/${made.id}/refund`, { headers: { prefer: 'respond-async' } });
      const { id, refundKey } = await fixture.deps.em().findOneOrFail(PaymentAttempt, { payment: made.id });
      await refundActivities(fixture.deps).giveUpRefund(id, refundKey ?? '');
      fixture.stub.knobs.turnAway = 0;
      return { ...made, subject: /: A refund of / };
    },
  ],
  [
    'money that came too late',
    async () => {
      const { account, payUrl, paymentId, owner, site, id, statusOf, nudge } = await heldIn(fixture);
      const payee = await fixture.newCaller();
      const em = fixture.deps.em();
      await em.execute('update payout_account set account_id = ? where id = ?', [payee.accountId, account.id]);
      const { page } = await fixture.openLink(payUrl);
      await atRest(fixture, paymentId);
      setForTest(fixture.stub.knobs, { turnAway: 1 });
      await blockAccount(em, fixture, payee.accountId, 'It sells what it has not.');
      await fixture.press(page, 'pay', { comesBack: false });
      fixture.stub.knobs.turnAway = 0;
      await nudge();
      await until(statusOf, (status) => status === 'expired');
      return { owner, subject: /: Not booked: /, path: pageOf(site, `/bookings/${id}`) };
    },
  ],
  [
    'comments',
    async () => {
      const owner = await fixture.newCaller();
      const site = await fixture.newSite(owner);
      const headers = { 'x-review': secretOf((await commentsOf(owner, site.id).review()).body) };
      await callWith(fixture.url)('POST', '/review/threads', {
        body: { page: '/', body: 'Hm.', position: {} },
        headers,
      });
      fixture.skip(hourMs + minuteMs);
      await mailOwners(fixture);
      return { owner, subject: /: A comment is waiting/, path: pageOf(site, '/comments') };
    },
  ],
  [
    'a failed publish',
    async () => {
      const owner = await fixture.newCaller();
      const site = await fixture.newSite(owner);
      const upload = sender(owner);
      const deployment = await upload.begin(site);
      await upload.fill(deployment, { 'index.html': '<title>Hi</title>', _redirects: '/a /b 999\n' });
      await upload.complete(deployment);
      return { owner, subject: /could not be published$/, path: pageOf(site, `/versions/${deployment.id}`) };
    },
  ],
  [
    'an agent',
    async () => {
      const owner = await fixture.newCaller();
      await owner.call('POST', '/v1/tokens', { body: { name: 'Helper' } });
      return { owner, subject: /^An agent has access/, path: '/account/agents' };
    },
  ],
];

test.for(mails)('the e-mail about %s links to its page for the signed-in owner', async ([, act]) => {
  const { owner, subject, path } = await act();
  const { text } = await fixture.received(await fixture.emailOf(owner), subject);
  const [button] = [...text.matchAll(/^https?:\S+$/gm)].map(([url]) => url);
  expect(button).toBe(`${fixture.config.baseUrl}${path}`);
  const browser = await signedIn(fixture, owner.accountId);
  expect([(await browser.open(path)).status, path]).toEqual([200, path]);
});

test('a collaborator who is notified can open the pages of what their e-mails say', async () => {
  const ask = people(fixture);
  const { owner, site, publicId } = await fixture.newBookable(timetable());
  const member = await ask.newCollaborator(owner, site.id);
  const email = await fixture.emailOf(member);
  const told = { notify_to: email };
  const declared = await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: { ...timetable(), ...told } });
  expect([declared.status, declared.text]).toEqual([200, declared.text]);
  const times = await fixture.slots(publicId, fixture.dateIn(5));
  const { id } = (await fixture.book(publicId, times[0]?.start ?? '')).body;
  await fixture.received(email, /: New booking: /);
  expect((await owner.call('POST', `/v1/bookings/${id}/cancel`)).status).toBe(200);
  const enquiries = forms(fixture);
  const form = await enquiries.newForm(owner, told, { ...site, address: '' });
  await enquiries.send(form.id);
  const [enquiry] = (await enquiries.submissions(owner, form.id)).body.items;
  const browser = await signedIn(fixture, member.accountId);
  for (const [subject, path] of [
    [/: New booking: /, `/bookings/${id}`],
    [/: Cancelled: /, `/bookings/${id}`],
    [/: New message: /, `/messages/${enquiry.id}`],
  ] as const) {
    const { text } = await fixture.received(email, subject);
    const [button] = [...text.matchAll(/^https?:\S+$/gm)].map(([url]) => url);
    expect(button).toBe(`${fixture.config.baseUrl}${pageOf(site, path)}`);
    expect([path, (await browser.open(pageOf(site, path))).status]).toEqual([path, 200]);
  }
});
