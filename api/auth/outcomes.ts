/** What an owner's answer came to, in the words of the page that follows it. */
import type { FastifyRequest } from 'fastify';
import { readForm } from '#api/plugins/browser.ts';
import type { AccessRequest } from '#db/auth/access-request.ts';
import type { RequestShown } from '#web/pages/access-request.ts';
import type { Notice } from '#web/pages/notice.ts';
import type { Answer, Answered } from './answers.ts';

export function requestView({ agentName, askedFrom, createdAt, expiresAt }: AccessRequest): RequestShown {
  return { agentName, askedFrom, askedAt: createdAt, expiresAt };
}

/** The answer that the form holds. Whatever is not clearly a refusal needs the code. */
export function readAnswer(request: FastifyRequest): Answer {
  const { field } = readForm(request);
  return field('answer') === 'deny' ? { approve: false } : { approve: true, code: (field('code') ?? '').slice(0, 100) };
}

export function outcomeNotice(answered: Exclude<Answered, { outcome: 'wrong_code' }>): Notice {
  if (answered.outcome === 'approved') return answered.hasAccount ? approved : approvedInVain;
  if (answered.outcome === 'denied') return denied;
  if (answered.byWrongCodes) return wrongTooOften;
  return answered.status === 'expired' ? ranOut : answeredBefore;
}

const approved: Notice = {
  title: 'Your agent is let in',
  text: 'It goes on by itself in a few seconds; you can close this page. What it may do ends when you revoke its token.',
  lit: true,
  link: { href: '/account', text: 'See who may act for you' },
};
const approvedInVain: Notice = {
  title: 'There is no account here yet',
  text: 'You approved, but this address has no account on this platform. Ask whoever runs it to open one for you.',
};
const denied: Notice = {
  title: 'Refused',
  text: 'The agent was told so and has no access. Nothing has changed.',
};
const wrongTooOften: Notice = {
  title: 'That was the wrong code too often',
  text: 'This request is closed, to be safe. If it was yours, tell your agent to ask again: a new mail comes with it.',
};
const ranOut: Notice = {
  title: 'This request is over',
  text: 'It was open for 15 minutes, or a newer one has taken its place. Tell your agent to ask again if you still want it.',
};
const answeredBefore: Notice = {
  title: 'Answered already',
  text: 'This link works once, and its request has its answer.',
  link: { href: '/account', text: 'See who may act for you' },
};
