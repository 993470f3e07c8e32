/** Examples of every mail, for docs/mails.md and for tests. */
import type { BookingFacts } from '#web/mails/booking.ts';
import type { MailData, MailKind } from '#web/mails/mails.ts';
import type { PaymentFacts } from '#web/mails/payments.ts';
import { domainSamples } from './domain-mail-samples.ts';
import { weekOf } from './weekly-sample.ts';

/** `case` tells apart the examples of one kind; a kind with one form has none. */
export type MailSample<Kind extends MailKind> = { case?: string; data: MailData<Kind> };

export const sampleContext = { baseUrl: 'https://frontage.example' };

const hostname = 'bakery.example';
const link = (path: string) => `${sampleContext.baseUrl}${path}`;

const booking: BookingFacts = {
  id: 'book_1',
  reference: 'K7QM-2XWD',
  hostname,
  address: 'https://bakery.example',
  title: 'Harbour Bakery',
  service: 'Bread course',
  calendar: 'Bakehouse',
  timeZone: 'Europe/Berlin',
  start: '2026-11-20T10:00:00+01:00',
  end: '2026-11-20T12:30:00+01:00',
  seats: 2,
  place: 'Harbour Street 1',
  createdAt: '2026-11-12T09:00:00Z',
};
const cancelUrl = link('/b/site_1/cancel/2f6Yt0');
const visitor = { name: 'Ada Brown', email: 'ada@example.org' };
const before = { start: '2026-11-19T10:00:00+01:00', timeZone: 'Europe/Berlin' };

const payment: PaymentFacts = {
  id: 'pay_01hx',
  hostname,
  address: 'https://bakery.example',
  title: 'Harbour Bakery',
  description: 'Two loaves',
  paid: '€12.50',
  paidAt: '2026-11-19T09:00:00Z',
};
/** The owner's page of something on the website. */
const pageOf = (path: string) => link(`/account/sites/site_1/${path}`);
const bookingPage = pageOf('bookings/book_1');
const paymentPage = pageOf('payments/pay_01hx');
const choices = link('/account/mails');
const hold = { total: '€90.00', payUrl: link('/pay/2f6Yt0'), holdExpiresAt: '2026-11-12T10:15:00+01:00' };
const abroad = { visitorZone: 'Europe/London' };
const address = { newAddress: 'new@example.org', askedBy: 'Claude', link: link('/address/2f6Yt0'), code: 'BCDFGHJK' };

export const mailSamples: { readonly [Kind in MailKind]: readonly MailSample<Kind>[] } = {
  invitation: [
    {
      data: {
        hostname,
        link: link('/invitations/inv_1'),
        days: 14,
        inviter: { name: 'Grace Miller', email: 'grace@example.com' },
      },
    },
  ],
  'collaborator-invited': [
    {
      data: {
        hostname,
        agent: 'Claude',
        owner: 'grace@example.com',
        email: 'ada@example.org',
        link: link('/account/invitations/inv_1'),
      },
    },
    {
      case: 'without sign-in',
      data: { hostname, agent: 'Claude', owner: 'grace@example.com', email: 'ada@example.org', link: null },
    },
  ],
  submission: [
    {
      data: {
        hostname,
        formName: 'Contact',
        answers: [
          { label: 'Name', text: 'Ada Brown' },
          { label: 'E-mail', text: 'ada@example.org' },
          { label: 'Message', text: 'Hello,\ndo you bake gluten-free bread?\n\nAda' },
        ],
        page: '/contact',
        account: pageOf('messages/sub_1'),
      },
    },
  ],
  'submission-received': [{ data: { hostname, title: 'Harbour Bakery', text: 'Thank you! We answer within a day.' } }],
  'access-request': [{ data: { link: link('/access/req_1'), agentName: 'Claude', askedFrom: '203.0.113.7' } }],
  'access-ended': [
    { case: 'reused key', data: { client: 'Claude', cause: 'refresh_reused' } },
    { case: 'reused code', data: { client: 'Claude', cause: 'code_reused' } },
  ],
  'agent-admitted': [
    {
      data: {
        agent: 'Claude',
        may: 'one website · may change it',
        websites: [hostname],
        givenBy: null,
        ends: 'when you end it',
        isLast: false,
        account: link('/account/agents'),
        choices,
      },
    },
  ],
  'publish-failed': [
    {
      data: {
        hostname,
        number: 7,
        by: 'the agent Claude',
        reason: 'src/pages/index.astro:12: the image shop.jpg does not exist.',
        code: 'build_failed',
        isLive: true,
        account: pageOf('versions/dep_1'),
        choices,
      },
    },
  ],
  'signin-link': [
    { data: { link: link('/signin/2f6Yt0'), asker: { browser: 'Firefox on Windows', address: '203.0.113.7' } } },
    { case: 'no account', data: { link: null } },
  ],
  'account-blocked': [
    { case: 'blocked', data: { reason: 'The website asks its visitors for their bank passwords.' } },
    { case: 'unblocked', data: { reason: null } },
  ],
  'address-confirmation': [
    { data: { link: address.link, code: address.code, accountName: 'Grace Miller', askedBy: 'Claude' } },
  ],
  'address-change': [
    { case: 'asked', data: { stage: 'asked', ...address } },
    { case: 'done', data: { stage: 'done', ...address } },
    { case: 'undone', data: { stage: 'undone', oldAddress: 'grace@example.com' } },
  ],
  'booking-held': [{ data: { ...booking, ...abroad, ...hold } }],
  'booking-confirmed': [
    {
      data: { ...booking, ...abroad, paid: '€90.00', cancelUrl, isNotified: true, isReminded: true },
    },
  ],
  'booking-taken': [{ data: { ...booking, visitor, intake: [['Any allergies?', 'None']], account: bookingPage } }],
  'booking-cancelled': [
    {
      case: 'to the site',
      data: { ...booking, to: 'site', visitorName: visitor.name, moneyBack: '€90.00', account: bookingPage },
    },
    {
      case: 'to the visitor',
      data: { ...booking, ...abroad, to: 'visitor', visitorName: visitor.name, moneyBack: '€90.00' },
    },
    {
      case: 'owed',
      data: {
        ...booking,
        to: 'site',
        visitorName: visitor.name,
        by: 'site',
        isVisitorNotified: false,
        moneyOwed: '€90.00',
        account: bookingPage,
      },
    },
  ],
  'booking-moved': [
    {
      case: 'to the site',
      data: {
        ...booking,
        to: 'site',
        before,
        visitorName: visitor.name,
        isVisitorNotified: true,
        account: bookingPage,
      },
    },
    { case: 'to the visitor', data: { ...booking, ...abroad, to: 'visitor', before, cancelUrl } },
  ],
  'booking-reminder': [{ data: { ...booking, ...abroad, cancelUrl } }],
  'money-returned': [
    {
      case: 'to the site',
      data: {
        ...booking,
        to: 'site',
        visitorName: visitor.name,
        amount: 9000,
        currency: 'EUR',
        account: bookingPage,
        choices,
      },
    },
    {
      case: 'to the visitor',
      data: { ...booking, ...abroad, to: 'visitor', visitorName: visitor.name, amount: 9000, currency: 'EUR' },
    },
  ],
  'payment-received': [
    { data: { ...payment, reference: 'Order 17', payer: visitor.email, account: paymentPage, choices } },
    { case: 'unknown payer', data: { ...payment, reference: null, payer: null } },
  ],
  'payment-receipt': [{ data: payment }],
  'payment-refunded': [{ data: { ...payment, refunded: '€5.00', refundedAt: '2026-11-22T09:30:00Z' } }],
  'refund-failed': [{ data: { ...payment, owed: '€5.00', reference: 'Order 17', account: paymentPage, choices } }],
  ...domainSamples({ domain: hostname, account: pageOf('domains/dom_1'), choices }),
  'site-deletion': [
    { data: { hostname, deleteAt: '2026-12-20T10:00:00Z', link: link('/sites/site_1/restore') } },
    { case: 'without sign-in', data: { hostname, deleteAt: '2026-12-20T10:00:00Z', link: null } },
  ],
  'account-deletion': [
    { case: 'asked', data: { stage: 'asked', code: 'BCDFGHJK' } },
    { case: 'done', data: { stage: 'done', deleteAt: '2026-12-20T10:00:00Z', link: link('/account/restore') } },
  ],
  'comments-waiting': [
    {
      data: {
        hostname,
        comments: [
          { page: '/', slot: 2, text: 'Could the photo of the shop be larger?' },
          { page: '/opening-hours', slot: 2, text: 'We are closed on Mondays now.' },
        ],
        count: 2,
        account: pageOf('comments'),
        choices,
      },
    },
  ],
  'weekly-summary': [
    {
      data: {
        firstDay: '2026-11-16T00:00:00Z',
        lastDay: '2026-11-22T00:00:00Z',
        sites: weekOf(hostname),
        unlisted: 0,
        choices,
      },
    },
  ],
};
