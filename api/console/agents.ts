/** Agents and programs with access to the account: the list, one of them, and how to connect another. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { siteNamesOf } from '#api/access.ts';
import { isEmptyChoice, readChoice, siteChoices } from '#api/auth/scope-choice.ts';
import { calendarFeedsShown } from '#api/calendar-feeds/pages.ts';
import { historyOfAccount, readHistory } from '#api/history/rules.ts';
import { sendPage } from '#api/plugins/browser.ts';
import { gitPasswordsShown } from '#api/source/pages.ts';
import { usableTokens } from '#api/tokens/rules.ts';
import { renewableTokenIds } from '#db/auth/oauth-expiry.ts';
import { Token } from '#db/auth/token.ts';
import type { EntityManager } from '#db/orm.ts';
import { actions } from '#rules/history.ts';
import { usualScope } from '#rules/scopes.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { sentenceOf } from '#web/console/acts.ts';
import {
  agentPage,
  connectPage,
  madeTokenPage,
  newTokenPage,
  type OneAgent,
  revocationPage,
} from '#web/console/agent.ts';
import { agentsPage } from '#web/console/agents.ts';
import type { Frame, Refused } from '#web/console/frame.ts';
import type { WrittenPage } from '#web/page.ts';
import { noSiteChosen } from '#web/pages/scope.ts';
import { action } from './actions.ts';
import { type Console, consolePage, frameOf, type Named } from './frame.ts';

const base = '/account/agents';
type Show = (request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) => Promise<unknown>;

export function agentPages(console: Console): void {
  const { app, deps } = console;
  app.get(base, consolePage('agents'), async (request, reply) => {
    const { em, actor } = request;
    const page = {
      tokens: await tokensOf(deps, request),
      gitPasswords: await gitPasswordsShown(em, deps, actor),
      calendarFeeds: await calendarFeedsShown(em, deps, actor),
      sites: await siteChoices(em, deps.config, actor.accountId),
    };
    return sendPage(reply, agentsPage(frameOf(request, reply, deps), page));
  });
  app.get(`${base}/connect`, consolePage('agent_connect'), async (request, reply) =>
    sendPage(reply, connectPage(frameOf(request, reply, deps), deps.config.baseUrl)),
  );
  newTokens(console);
  oneAgent(console);
}

function newTokens(console: Console): void {
  const { app, deps } = console;
  const show: Show = async (request, reply, refused) => {
    const sites = await siteChoices(request.em, deps.config, request.actor.accountId);
    const chosen = refused ? readChoice(request) : usualScope;
    return sendPage(reply, newTokenPage(frameOf(request, reply, deps, refused), { sites, chosen }), refused?.status);
  };
  app.get<Named>(`${base}/token`, consolePage('token_new'), (request, reply) => show(request, reply, null));

  action(console, {
    path: `${base}/token`,
    operation: 'token.create',
    input: (request, { field }) => {
      const scope = readChoice(request);
      if (isEmptyChoice(scope)) throw errors.invalid_input(noSiteChosen);
      return { name: field('name') ?? '', scope };
    },
    done: ({ name, access_token: secret }, request, _form, reply) => ({
      page: madeTokenPage(frameOf(request, reply, deps), { name: String(name), secret: String(secret) }),
    }),
    show,
  });
}

function oneAgent(console: Console): void {
  const { app, deps } = console;
  const show =
    (page: (frame: Frame, token: OneAgent) => WrittenPage): Show =>
    async (request, reply, refused) => {
      const one = await agentOf(deps, request);
      return sendPage(reply, page(frameOf(request, reply, deps, refused), one), refused?.status);
    };
  for (const [path, name, page] of [
    ['', 'agent', agentPage],
    ['/revoke', 'agent_revoke', revocationPage],
  ] as const) {
    app.get<Named>(`${base}/:id${path}`, consolePage(name), (request, reply) => show(page)(request, reply, null));
  }

  action(console, {
    path: `${base}/:id/rename`,
    operation: 'token.rename',
    input: ({ params: { id } }, { field }) => ({ id, name: field('name') ?? '' }),
    done: (_answer, { params: { id } }) => ({ to: `${base}/${id}`, notice: 'The name is saved.' }),
    show: show(agentPage),
  });

  action(console, {
    path: `${base}/:id/revoke`,
    operation: 'token.revoke',
    input: ({ params: { id } }) => ({ id }),
    done: ({ name }) => ({
      to: base,
      notice: `${name} no longer has access, and neither does anything that it created.`,
    }),
    show: show(revocationPage),
  });
}

/** The paths of the agents' pages by their names; the list of all where several have one name. */
export async function agentPaths({ clock }: Deps, { em, actor }: FastifyRequest): Promise<ReadonlyMap<string, string>> {
  const tokens = await em.find(Token, await usableTokens(em, actor.accountId, clock.now()));
  const paths = new Map<string, string>();
  for (const { id, name } of tokens) paths.set(name, paths.has(name) ? base : `${base}/${id}`);
  return paths;
}

async function agentOf(deps: Deps, request: FastifyRequest<Named>): Promise<OneAgent> {
  const { em, actor, params } = request;
  const token = (await tokensOf(deps, request)).find(({ id }) => id === params.id);
  if (!token) throw errors.not_found('This agent has no access to your account. It may have been revoked.');
  const { scope, madeBy, name } = token;
  const sites = scope.sites === 'all' ? [] : await siteChoices(em, deps.config, actor.accountId, scope);
  return { ...token, sites, givenBy: await makerOf(em, madeBy), acts: await actsOf(request, name) };
}

const actsShown = 5;

/** What the account's agents of this name did last. */
async function actsOf({ em, actor }: FastifyRequest, name: string): Promise<OneAgent['acts']> {
  const own = historyOfAccount(actor).map(({ where, values }) => ({
    where: `${where} and actor_id = ? and via_name = ?`,
    values: [...values, actor.accountId, name],
  }));
  const found = await readHistory(em, own, { after: undefined, limit: actsShown });
  const sites = await siteNamesOf(em, actor);
  return found.map(({ entry: { action, subjectName = null, detail, siteId, at } }) => ({
    says: sentenceOf({ action, subject: { name: subjectName }, detail }, actions[action].says),
    site: sites.get(siteId ?? '') ?? null,
    at,
  }));
}

async function makerOf(em: EntityManager, id: string | null | undefined): Promise<string | null> {
  const maker = id ? await em.findOne(Token, { id }) : null;
  return maker?.name ?? null;
}

async function tokensOf({ clock }: Deps, { em, actor }: FastifyRequest) {
  const now = clock.now();
  // An OAuth client renews its hourly access token, so that token's expiry is not the end of its access.
  const renewable = await renewableTokenIds(em, actor.accountId, now);
  const tokens = await em.find(Token, await usableTokens(em, actor.accountId, now), { orderBy: { id: 'desc' } });
  return tokens.map((token) => ({
    ...token,
    lastUsedAt: token.lastUsedAt ?? null,
    expiresAt: renewable.includes(token.id) ? null : (token.expiresAt ?? null),
  }));
}
