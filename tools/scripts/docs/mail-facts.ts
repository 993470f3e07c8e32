/** When each mail is sent, to whom, and how to switch it off, for docs/mails.md. */
import { type MailChoice, mailChoices } from '#rules/mail-choices.ts';
import type { MailKind } from '#web/mails/mails.ts';

/** `off`: who can switch it off and how, as a sentence; null where nobody can. */
export type MailFacts = { name: string; when: string; to: string; off: string | null };

const account = 'the account’s address';
const owner = 'the owner of the website';
const notices = 'the site’s address for booking notices (`notify_to`), which is the owner’s by default';
const visitor = 'the visitor';

const chosenByVisitor = 'the visitor chooses when booking, and it is off by default.';

/** Of the e-mails that owners choose on their page. */
function chosenByOwner(name: MailChoice, what = 'yes'): string {
  const { isOn, says } = mailChoices[name];
  return `${what}, on the owner’s page \`/account/mails\` (“${says}”). It is ${isOn ? 'on' : 'off'} by default.`;
}

const signingIn: Partial<Record<MailKind, MailFacts>> = {
  'signin-link': {
    name: 'Sign-in link',
    when: 'Somebody enters the address on the sign-in page.',
    to: 'the address that was entered',
    off: null,
  },
  'access-request': {
    name: 'An agent requests access',
    when: 'An agent requests access to the account of this address.',
    to: account,
    off: null,
  },
  'agent-admitted': {
    name: 'An agent got access',
    when: 'A token is created for an agent or an app, not when an app renews its access. At most 10 times an hour.',
    to: account,
    off: chosenByOwner('agents'),
  },
  'access-ended': {
    name: 'An app was disconnected',
    when: 'A code or renewal key of an OAuth client is used twice, so its access is ended.',
    to: account,
    off: null,
  },
};

const accounts: Partial<Record<MailKind, MailFacts>> = {
  'address-change': {
    name: 'Change of the address',
    when: 'Somebody asks to change the account’s address, both addresses have confirmed it, or the old one has undone it.',
    to: 'the old address; the new one when the change is undone',
    off: null,
  },
  'address-confirmation': {
    name: 'Confirmation of the new address',
    when: 'The old address has confirmed a change.',
    to: 'the new address',
    off: null,
  },
  'account-blocked': {
    name: 'The account is blocked',
    when: 'The operator blocks or unblocks the account, or somebody tries to sign in to a blocked account.',
    to: account,
    off: null,
  },
  'account-deletion': {
    name: 'Deletion of the account',
    when: 'The owner asks to delete the account, and again when it is being deleted.',
    to: account,
    off: null,
  },
  'weekly-summary': {
    name: 'Weekly summary',
    when: 'On Monday from 06:00 UTC, about the seven days before. There is none if nothing happened.',
    to: account,
    off: chosenByOwner('summary'),
  },
};

const websites: Partial<Record<MailKind, MailFacts>> = {
  invitation: {
    name: 'Invitation to a website',
    when: 'The owner invites a person to work on a website.',
    to: 'the invited address',
    off: null,
  },
  'collaborator-invited': {
    name: 'An agent invited a person',
    when: 'A token of the owner sends an invitation.',
    to: owner,
    off: null,
  },
  'publish-failed': {
    name: 'A publish failed',
    when: 'A version of the website could not be published. There is no other one until a publish succeeds or a day has passed.',
    to: owner,
    off: chosenByOwner('publishes'),
  },
  'comments-waiting': {
    name: 'Comments without an answer',
    when: 'Nobody has answered or resolved a reviewer’s comment for an hour. Each comment is in one e-mail, and a website has at most one such e-mail an hour.',
    to: owner,
    off: chosenByOwner('comments'),
  },
  'domain-live': {
    name: 'A domain is live',
    when: 'A domain points here and has its certificate for the first time, or again after an e-mail that something was wrong.',
    to: 'the account that the domain belongs to',
    off: chosenByOwner('domains'),
  },
  'domain-trouble': {
    name: 'Something is wrong with a domain',
    when: 'Two checks of the DNS have seen that a domain is no longer registered or points elsewhere. There is one until it is right again.',
    to: 'the account that the domain belongs to',
    off: chosenByOwner('domains'),
  },
  'domain-proof-missing': {
    name: 'A DNS record is missing',
    when: 'Two checks have missed the TXT record that proves who a domain belongs to.',
    to: 'the account that the domain belongs to',
    off: null,
  },
  'site-deletion': {
    name: 'A website will be deleted',
    when: 'A website is deleted. It can be restored for 30 days.',
    to: owner,
    off: null,
  },
  submission: {
    name: 'New message',
    when: 'A visitor sends a form.',
    to: 'the form’s `notify_to`, which is the owner by default. Replies go to the visitor if the form asks for an address',
    off: null,
  },
  'submission-received': {
    name: 'Message received',
    when: 'A visitor sends a form that acknowledges it, once a day for each address and form.',
    to: visitor,
    off: 'yes. It is off unless the form has a text for it (`acknowledge`).',
  },
};

const bookings: Partial<Record<MailKind, MailFacts>> = {
  'booking-held': {
    name: 'Waiting for payment',
    when: 'A visitor books a service with a price.',
    to: visitor,
    off: null,
  },
  'booking-confirmed': {
    name: 'Booked',
    when: 'A booking is confirmed, after its payment if it has a price. A calendar file is attached.',
    to: visitor,
    off: null,
  },
  'booking-taken': {
    name: 'New booking',
    when: 'A visitor’s booking is confirmed. Replies go to the visitor.',
    to: notices,
    off: null,
  },
  'booking-moved': {
    name: 'Moved',
    when: 'The site’s people or the visitor move a booking.',
    to: `${notices}, and the visitor who asked for it`,
    off: `to the visitor: ${chosenByVisitor} To the site: no.`,
  },
  'booking-cancelled': {
    name: 'Cancelled',
    when: 'The visitor or the site’s people cancel a booking.',
    to: `${notices}, and the visitor who asked for it`,
    off: `to the visitor: ${chosenByVisitor} To the site: no.`,
  },
  'booking-reminder': {
    name: 'Reminder',
    when: 'The day before a booking.',
    to: visitor,
    off: `yes: ${chosenByVisitor}`,
  },
  'money-returned': {
    name: 'Not booked',
    when: 'A payment arrives after its seats were given to somebody else, and is refunded.',
    to: `${notices}, and the visitor`,
    off: chosenByOwner('payments', 'if it goes to the owner: yes'),
  },
};

const payments: Partial<Record<MailKind, MailFacts>> = {
  'payment-received': {
    name: 'Payment received',
    when: 'A payment link is paid. Replies go to the payer.',
    to: notices,
    off: chosenByOwner('payments', 'if it goes to the owner: yes'),
  },
  'payment-receipt': {
    name: 'Receipt',
    when: 'A payment link is paid.',
    to: 'the payer',
    off: null,
  },
  'payment-refunded': {
    name: 'Refund',
    when: 'A payment is refunded, in whole or in part.',
    to: 'the payer',
    off: null,
  },
  'refund-failed': {
    name: 'A refund failed',
    when: 'The payment provider does not make a refund.',
    to: notices,
    off: chosenByOwner('payments', 'if it goes to the owner: yes'),
  },
};

/** `folder`: of its pictures, below docs/mails/. */
export type MailSection = { title: string; folder: string; mails: Partial<Record<MailKind, MailFacts>> };

/** The sections of the page, in order. A test checks that every mail is in one. */
export const mailSections: readonly MailSection[] = [
  { title: 'Signing in and access', folder: 'access', mails: signingIn },
  { title: 'The account', folder: 'account', mails: accounts },
  { title: 'Websites', folder: 'websites', mails: websites },
  { title: 'Bookings', folder: 'bookings', mails: bookings },
  { title: 'Payments', folder: 'payments', mails: payments },
];
