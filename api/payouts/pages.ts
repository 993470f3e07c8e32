/** `/connect/{secret}`: redirects to the provider's onboarding, and shows the result afterwards. */
import type { Api } from '#api/api.ts';
import { pageOptions, sendPage } from '#api/plugins/browser.ts';
import { isHumanNavigation } from '#api/plugins/navigation.ts';
import type { PayoutAccount } from '#db/payouts/payout-account.ts';
import type { Deps } from '#runtime/deps.ts';
import { type Notice, noticePage } from '#web/pages/notice.ts';
import { createProviderLink, onboardingOf, stateAfter } from './onboarding.ts';

type Linked = { Params: { secret: string } };

export function connectPages(app: Api, deps: Deps): void {
  app.get<Linked>('/connect/:secret', pageOptions('payout.connect', 'payouts'), async (request, reply) => {
    const { em, params } = request;
    const account = await onboardingOf(em, deps, params.secret);
    // Only a person's visit creates the link, and at first the account: not a chat's link preview.
    if (!isHumanNavigation(request)) return sendPage(reply, noticePage(invitation(account, params.secret)));
    const url = await createProviderLink(deps, account, params.secret);
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
    text: 'On the next page, the payment provider will ask for some details that it needs before this account can receive payments.',
    link: { href: `/connect/${secret}`, text: 'Continue' },
  };
}

function outcome({ name, status, waitingFor }: PayoutAccount, secret: string): Notice {
  if (status === 'ready') {
    return {
      title: 'Connected',
      text: `${name} can now receive payments. You can close this page.`,
      lit: true,
    };
  }
  const missing = waitingFor.length > 0 ? `Still needed: ${waitingFor.join('; ')}.` : 'Some details are still missing.';
  return {
    title: 'Not complete yet',
    text: `${missing} You can continue where you left off at any time.`,
    link: { href: `/connect/${secret}`, text: 'Continue' },
  };
}
