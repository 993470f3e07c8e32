/** `/address/{link}`: the reader of an e-mail confirms, stops or undoes a change of address with the e-mail's code. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { formsFor, pageOptions, readForm, sendPage } from '#api/plugins/browser.ts';
import { undoPeriod } from '#rules/periods.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { addressPage } from '#web/pages/address.ts';
import { wrongCode } from '#web/pages/form.ts';
import { type Notice, noticePage } from '#web/pages/notice.ts';
import { taken } from './address.ts';
import { type AddressAct, type AddressAnswer, answerLink, readAddressLink } from './address-links.ts';

type Linked = { Params: { link: string } };

/** Opening a page does nothing. */
export function addressPages(app: Api, deps: Deps): void {
  app.get<Linked>('/address/:link', pageOptions('address.show'), (request, reply) => show(request, reply));

  app.post<Linked>('/address/:link', pageOptions('address.answer'), async (request, reply) => {
    const { field } = readForm(request);
    const answer = { act: readAct(field('answer')), typed: field('code') ?? '' };
    const answered = await answerLink(request.em, deps, request.params.link, answer);
    if (answered.outcome === 'wrong_code') return show(request, reply, wrongCode(answered.triesLeft, answer.typed));
    if (answered.outcome === 'taken') throw taken();
    const { status, ...notice } = addressNotice(answered);
    return sendPage(reply, noticePage(notice), status);
  });

  async function show(request: FastifyRequest<Linked>, reply: FastifyReply, fault?: string) {
    const now = deps.clock.now();
    const link = await readAddressLink(request.em, deps, request.params.link);
    if (link.acts.length === 0) return sendPage(reply, noticePage(linkIsOver), 410);
    const form = formsFor(request, reply, deps);
    return sendPage(reply, addressPage({ ...link, form, now, fault }), fault ? 400 : 200);
  }
}

function readAct(answer: string | undefined): AddressAct {
  if (answer === 'confirm' || answer === 'stop' || answer === 'undo') return answer;
  throw errors.invalid_input('Press one of the buttons of the page.');
}

const linkIsOver = {
  title: 'This link has expired',
  text: 'The change was made, stopped or replaced, or it has expired. To change your address, request the change again.',
};

function addressNotice(
  answered: Exclude<AddressAnswer, { outcome: 'wrong_code' | 'taken' }>,
): Notice & { status: number } {
  const { outcome } = answered;
  const signIn = { href: '/signin', text: 'Sign in' };
  if (outcome === 'over') return { ...linkIsOver, status: 410 };
  if (outcome === 'too_many_codes') return { ...tooManyCodes[answered.side], status: 410 };
  if (outcome === 'confirmed_by_old') {
    const text = `We have sent an e-mail to ${answered.email}. The change takes effect when it is confirmed there. Before that, you can stop it with the same link and code.`;
    return { title: 'Now confirm it from the new address', text, lit: true, status: 200 };
  }
  if (outcome === 'changed') {
    const text = `Your account now uses ${answered.email}, and every browser is signed out: sign in again, with this address. For ${undoPeriod}, the old address can undo the change.`;
    return { title: 'Your e-mail address has changed', text, lit: true, link: signIn, status: 200 };
  }
  if (outcome === 'stopped') {
    const text = `Your account still uses ${answered.email}. If you do not know who asked for the change, sign in and revoke every agent that you do not recognise.`;
    return { title: 'The change is stopped', text, lit: true, link: signIn, status: 200 };
  }
  const text = `Your account uses ${answered.email} again. Every agent and app has lost its access, and every browser is signed out. Sign in, and give access again to those that you trust.`;
  return { title: 'The change is undone', text, lit: true, link: signIn, status: 200 };
}

const stopped = {
  title: 'Too many wrong codes',
  text: 'The change of address was stopped, and nothing has changed. You can request it again.',
};
const tooManyCodes = {
  old: stopped,
  new: stopped,
  undo: {
    title: 'Too many wrong codes',
    text: 'This link no longer works. To get your old address back, contact the operator of this service.',
  },
};
