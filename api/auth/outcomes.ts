/** The page after an owner's answer to an access request. */

import type { FastifyRequest } from 'fastify';
import { readForm } from '#api/plugins/browser.ts';
import type { AccessRequest } from '#db/auth/access-request.ts';
import type { RequestEnd } from '#db/auth/access-request-expiry.ts';
import { accessRequestMs, period } from '#rules/periods.ts';
import type { RequestShown } from '#web/pages/access-request.ts';
import type { Notice } from '#web/pages/notice.ts';
import type { Answer, Answered } from './answers.ts';
import { readChoice } from './scope-choice.ts';

export function requestView({ agentName, askedFrom, createdAt, expiresAt }: AccessRequest): RequestShown {
  return { agentName, askedFrom, askedAt: createdAt, expiresAt };
}

/** The answer in the form. Anything but an explicit refusal requires the code. */
export function readAnswer(request: FastifyRequest): Answer {
  const { field } = readForm(request);
  if (field('answer') === 'deny') return { approve: false };
  return { approve: true, code: (field('code') ?? '').slice(0, 100), choice: readChoice(request) };
}

export function outcomeNotice(answered: Exclude<Answered, { outcome: 'wrong_code' }>): Notice {
  if (answered.outcome === 'approved') return answered.hasAccount ? approved : approvedWithoutAccount;
  if (answered.outcome === 'denied') return denied;
  return answered.status === 'expired' ? ends[answered.end] : alreadyAnswered;
}

const approved: Notice = {
  title: 'Access granted',
  text: 'Your agent will continue in a few seconds; you can close this page. You can end its access at any time.',
  lit: true,
  link: { href: '/account/agents', text: 'See connected agents' },
};
const approvedWithoutAccount: Notice = {
  title: 'There is no account for this address yet',
  text: 'You approved the request, but your address has no account here. Ask the operator of this service to create one for you.',
};
const denied: Notice = {
  title: 'Access refused',
  text: 'The agent was not given access, and nothing has changed.',
};
const ends: Record<RequestEnd, Notice> = {
  wrong_codes: {
    title: 'Too many wrong codes',
    text: 'This request was closed for your safety. If it came from your agent, ask the agent to request access again; you will get a new e-mail.',
  },
  unanswered: {
    title: 'This request has expired',
    text: `A request expires after ${period(accessRequestMs)}. If you still want to give your agent access, ask it to send a new request.`,
  },
  not_redeemed: {
    title: 'This request has expired',
    text: `You approved it, but the agent did not collect its access within ${period(accessRequestMs)}. Ask it to send a new request.`,
  },
  address_changed: {
    title: 'This request has ended',
    text: 'The e-mail address of your account has changed since. Ask your agent to send a new request to the new address.',
  },
};
const alreadyAnswered: Notice = {
  title: 'You already answered this request',
  text: 'This link works only once.',
  link: { href: '/account/agents', text: 'See connected agents' },
};
