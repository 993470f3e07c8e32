/** Adding, connecting, renaming and removing payout accounts, and the sites that use them. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendPage } from '#api/plugins/browser.ts';
import { errors } from '#runtime/errors.ts';
import type { Refused } from '#web/console/frame.ts';
import {
  type AgreementShown,
  agreementEndPage,
  newPayoutAccountPage,
  type PayoutAccountShown,
  payoutAccountPage,
  payoutConnectionPage,
  payoutRemovalPage,
} from '#web/console/payout-account.ts';
import { action } from './actions.ts';
import { type Console, consolePage, frameOf, type Named } from './frame.ts';
import { readAll } from './reading.ts';

const base = '/account/payouts';
type Show = (request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) => Promise<unknown>;
const siteId = ({ params }: FastifyRequest): string => (params as { site: string }).site;

export function payoutAccountPages(console: Console): void {
  const { app, deps } = console;
  const showNew: Show = async (request, reply, refused) => {
    const rails = deps.config.payouts?.rails ?? [];
    return sendPage(reply, newPayoutAccountPage(frameOf(request, reply, deps, refused), [...rails]), refused?.status);
  };
  app.get<Named>(`${base}/new`, consolePage('payout_new'), (request, reply) => showNew(request, reply, null));
  additions(console, showNew);
  onePages(console);
}

function additions(console: Console, showNew: Show): void {
  action(console, {
    path: `${base}/new`,
    operation: 'payout.add',
    input: (_request, { field }) => ({ ...named(field('name')), secret_key: field('secret_key') ?? '' }),
    done: ({ id }) => ({ to: `${base}/${id}`, notice: 'The payout account is added.' }),
    show: showNew,
  });

  action(console, {
    path: `${base}/connect`,
    operation: 'payout.add',
    input: (_request, { field }) => ({ ...named(field('name')), rail: 'connect' }),
    done: ({ id }) => ({ to: `${base}/${id}`, notice: 'The payout account is added. Now connect it.' }),
    show: showNew,
  });
}

const named = (name: string | undefined) => (name ? { name } : {});

function onePages(console: Console): void {
  const { app, deps } = console;
  const show: Show = async (request, reply, refused) => {
    const account = await accountOf(console, request);
    const sites = await sitesOf(console, request);
    return sendPage(
      reply,
      payoutAccountPage(frameOf(request, reply, deps, refused), { account, sites }),
      refused?.status,
    );
  };
  const showRemoval: Show = async (request, reply, refused) => {
    const account = await accountOf(console, request);
    return sendPage(reply, payoutRemovalPage(frameOf(request, reply, deps, refused), account), refused?.status);
  };
  const showEnd: Show = async (request, reply, refused) => {
    const account = await accountOf(console, request);
    const agreement = (await sitesOf(console, request)).find(({ site }) => site.id === siteId(request));
    if (!agreement) throw errors.not_found('This site does not use the payout account any more.');
    return sendPage(
      reply,
      agreementEndPage(frameOf(request, reply, deps, refused), account, agreement),
      refused?.status,
    );
  };
  for (const [path, name, page] of [
    ['', 'payout_account', show],
    ['/remove', 'payout_remove', showRemoval],
    ['/sites/:site/end', 'payout_end', showEnd],
  ] as const) {
    app.get<Named>(`${base}/:id${path}`, consolePage(name), (request, reply) => page(request, reply, null));
  }
  const back = ({ params }: FastifyRequest<Named>) => `${base}/${params.id}`;
  const input = ({ params: { id } }: FastifyRequest<Named>) => ({ id });

  action(console, {
    path: `${base}/:id/rename`,
    operation: 'payout.rename',
    input: (request, { field }) => ({ ...input(request), name: field('name') ?? '' }),
    done: (_answer, request) => ({ to: back(request), notice: 'The name is saved.' }),
    show,
  });
  action(console, {
    path: `${base}/:id/key`,
    operation: 'payout.replace_key',
    input: (request, { field }) => ({ ...input(request), secret_key: field('secret_key') ?? '' }),
    done: (_answer, request) => ({ to: back(request), notice: 'The key is replaced.' }),
    show,
  });
  action(console, {
    path: `${base}/:id/connect`,
    operation: 'payout.onboard',
    input,
    done: ({ url }, request, _form, reply) => ({
      page: payoutConnectionPage(frameOf(request, reply, deps), String(url)),
    }),
    show,
  });
  action(console, {
    path: `${base}/:id/remove`,
    operation: 'payout.remove',
    input,
    done: ({ name }) => ({ to: base, notice: `${name} is removed.` }),
    show: showRemoval,
  });
  action(console, {
    path: `${base}/:id/sites/:site/end`,
    operation: 'payout_agreement.end',
    input: (request) => ({ id: siteId(request) }),
    done: (_answer, request) => ({ to: back(request), notice: 'The site no longer uses this payout account.' }),
    show: showEnd,
  });
}

/** Throws `not_found` for an account of somebody else, or one that was removed. */
async function accountOf(console: Console, request: FastifyRequest<Named>): Promise<PayoutAccountShown> {
  const { items } = await readAll<PayoutAccountShown>(console, request, 'payout.list', { pages: 5 });
  const found = items.find(({ id, status }) => id === request.params.id && status !== 'gone');
  if (found) return found;
  throw errors.not_found('There is no such payout account. It may have been removed.');
}

const sitesOf = async (console: Console, request: FastifyRequest<Named>): Promise<AgreementShown[]> =>
  (await readAll<AgreementShown>(console, request, 'payout.sites', { id: request.params.id })).items;
