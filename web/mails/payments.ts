/**
 * Mails about payments by link: to the site's address for notices, and to the payer. The subject of one to a payer
 * contains no text of the site's owner.
 */
import { exactIn } from '#web/times.ts';
import { accountButton, type Reach, reachBlocks, type WrittenMail, write } from './layout.ts';

export type PaymentFacts = Reach & {
  /** The payment's id: the receipt's number. */
  id: string;
  /** The site's canonical host name, and its title. */
  hostname: string;
  title: string;
  /** What was paid for, in the words of the site's people. */
  description: string | null;
  /** The formatted amount. */
  paid: string;
  /** RFC 3339, in UTC. */
  paidAt: string;
  /** Of the booking that was paid for. */
  timeZone?: string;
};

/** `account`: the owner's page; `choices`: where they choose their e-mails, if it goes to the owner. */
type OfNotice = { reference: string | null; account?: string | null; choices?: string | null };

/** To the site's address for notices. Replies go to the payer if the address is known. */
export function paymentReceived({
  reference,
  payer,
  account,
  choices,
  ...facts
}: PaymentFacts & OfNotice & { payer: string | null }): WrittenMail {
  return write({
    subject: `Payment received: ${facts.paid}`,
    hostname: facts.hostname,
    preview: `${facts.paid} was paid on ${facts.hostname}.`,
    heading: `${facts.paid} was paid on ${facts.hostname}`,
    blocks: [
      { facts: [...rows(facts), ...optional('Your reference', reference), ...optional('E-mail', payer)] },
      payer === null
        ? 'The payment provider has the details of the payer.'
        : 'Reply to this e-mail to write to the payer. Keep this e-mail: we do not store the payer’s address after sending it.',
      ...accountButton(account, 'See the payment'),
    ],
    footer: noticeFooter(facts),
    choices,
  });
}

/** To the payer. */
export function paymentReceipt(facts: PaymentFacts): WrittenMail {
  return write({
    subject: `Receipt for your payment of ${facts.paid}`,
    hostname: facts.hostname,
    preview: `${facts.hostname} has received your payment.`,
    heading: `You paid ${facts.paid}`,
    blocks: [
      `${facts.hostname} has received your payment. This e-mail is your receipt.`,
      { facts: rows(facts) },
      ...reachBlocks(facts, 'ask about this payment'),
    ],
    footer: payerFooter(facts),
  });
}

/** To the payer. */
export function paymentRefunded({
  refunded,
  refundedAt = null,
  refundedBefore = null,
  isCancelled = false,
  isBookingValid = false,
  ...facts
}: PaymentFacts & {
  refunded: string;
  /** RFC 3339, in UTC. Absent in e-mails of earlier releases. */
  refundedAt?: string | null;
  /** What was refunded earlier. Absent in e-mails of earlier releases. */
  refundedBefore?: string | null;
  /** Whether the booking that was paid for is cancelled. */
  isCancelled?: boolean;
  /** Whether it still takes place. */
  isBookingValid?: boolean;
}): WrittenMail {
  return write({
    subject: `Your refund of ${refunded}`,
    hostname: facts.hostname,
    preview: `${facts.hostname} has refunded ${refunded}.`,
    heading: `${refunded} was refunded to you`,
    blocks: [
      ...(isCancelled ? ['The booking that this payment was for is cancelled.'] : []),
      `${facts.hostname} has refunded ${refunded}. The money goes back the way you paid, and can take 5–10 days to reach you.`,
      ...(isBookingValid ? ['Your booking stays valid.'] : []),
      {
        facts: [
          ['Refunded', refunded],
          ...optional('Refunded on', refundedAt === null ? null : timeOf(refundedAt, facts)),
          ...optional('Refunded before', refundedBefore),
          ...rows(facts),
        ],
      },
      ...reachBlocks(facts, 'ask about this refund'),
    ],
    footer: payerFooter(facts),
  });
}

/** To the site's address for notices. */
export function refundFailed({
  owed,
  reference,
  account,
  choices,
  ...facts
}: PaymentFacts & OfNotice & { owed: string }): WrittenMail {
  return write({
    subject: `A refund of ${owed} failed`,
    hostname: facts.hostname,
    preview: `The payer has not received ${owed}.`,
    heading: `A refund of ${owed} failed`,
    blocks: [
      `The payment provider did not make the refund, so the payer has not received ${owed}. Often the balance of the payout account is too low, or its key is no longer valid.`,
      { facts: [...rows(facts), ...optional('Your reference', reference)] },
      `Add funds or enter a new key. Then refund the payment again${account ? ' on its page, or ask your agent to' : ': ask your agent'}. You can also refund it in the payment provider’s dashboard.`,
      ...accountButton(account, 'See the payment'),
    ],
    footer: noticeFooter(facts),
    choices,
  });
}

function rows(facts: PaymentFacts): (readonly [string, string])[] {
  const { id, title, hostname, description, paid, paidAt } = facts;
  return [
    ['Website', title === hostname ? hostname : `${title} (${hostname})`],
    ...optional('For', description),
    ['Paid', paid],
    ['Paid on', timeOf(paidAt, facts)],
    ['Payment', id],
  ];
}

const timeOf = (moment: string, { timeZone = 'UTC' }: Pick<PaymentFacts, 'timeZone'>): string =>
  `${exactIn(new Date(moment), timeZone)} (${timeZone})`;

const optional = (label: string, value: string | null): (readonly [string, string])[] =>
  value === null ? [] : [[label, value]];

const noticeFooter = ({ hostname }: PaymentFacts) =>
  `You are receiving this e-mail because notices about ${hostname} are sent to this address.`;

const payerFooter = ({ hostname }: PaymentFacts) =>
  `You are receiving this e-mail because this address was given for a payment to ${hostname}.`;
