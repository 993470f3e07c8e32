/** `/connect/{secret}`: leads whoever opens it to the provider, and tells him how it went when he is back. */

import type { Api } from '#api/api.ts';
import { pageOptions, sendPage } from '#api/plugins/browser.ts';
import { comesInPerson } from '#api/plugins/coming.ts';
import type { PayoutAccount } from '#db/payouts/payout-account.ts';
import type { Deps } from '#runtime/deps.ts';
import { type Notice, noticePage } from '#web/pages/notice.ts';
import { mintLink, onboardingOf, stateAfter } from './onboarding.ts';

type Linked = { Params: { secret: string } };

export function connectPages(app: Api, deps: Deps): void {
  app.get<Linked>('/connect/:secret', pageOptions('payout.connect', 'payouts'), async (request, reply) => {
    const { em, params } = request;
    const account = await onboardingOf(em, deps, params.secret);
    // Only who comes has a link made, and at the first time an account: not a chat that shows what is behind a link.
    if (!comesInPerson(request)) return sendPage(reply, noticePage(invitation(account, params.secret)));
    const url = await mintLink(deps, account, params.secret);
    return reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').redirect(url, 303);
  });

  app.get<Linked>(
    '/connect/:secret/done',
    pageOptions('payout.connected', 'payouts'),
    async ({ em, params }, reply) => {
      const { id } = await onboardingOf(em, deps, params.secret);
      return sendPage(reply, noticePage(outcome(await stateAfter(deps, id), params.secret)));
    },
  );
}

function invitation({ name }: PayoutAccount, secret: string): Notice {
  return {
    title: `Connect ${name}`,
    text: 'The next page is the payment provider’s. It asks what it has to know before this account can take money.',
    link: { href: `/connect/${secret}`, text: 'Go on' },
  };
}

function outcome({ name, status, waitingFor }: PayoutAccount, secret: string): Notice {
  if (status === 'ready') {
    return {
      title: 'Connected',
      text: `${name} can take money now. You can close this page: your agent sees it too.`,
      lit: true,
    };
  }
  const missing = waitingFor.length > 0 ? `It still waits for: ${waitingFor.join('; ')}.` : 'It is not complete yet.';
  return {
    title: 'Not quite yet',
    text: `${missing} You can go on where you left off, today or later.`,
    link: { href: `/connect/${secret}`, text: 'Go on' },
  };
}
