/**
 * Authorization by the scope of the token: each operation declares in `config.needs` what it needs. Which sites the
 * token may reach is checked where they are loaded (`api/access.ts`).
 */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { findDeployment, findSite, outOfScope, personOf } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { capabilitiesOf } from '#api/capabilities.ts';
import { type Claim, type NamedCall, returnAllowance, useAllowance } from '#api/scopes/allowances.ts';
import { type NeedName, needOf } from '#api/scopes/needs.ts';
import { recordRefusal } from '#api/scopes/refusals.ts';
import { linkMs, type Refusal, wideningLink } from '#api/scopes/widening.ts';
import { lackingIn, type PartOfScope, widened } from '#rules/scopes.ts';
import type { Deps } from '#runtime/deps.ts';

const subjectMax = 200;
const shownMax = 100;

declare module 'fastify' {
  interface FastifyRequest {
    /** The call as an owner allowed it once, if this request was the first to use that. */
    allowedCall: { call: NamedCall; claim: Claim } | null;
    /** The call as the link names it that this request is refused with. */
    refusal: Refusal | null;
  }
}

/**
 * Add it to a scope with tokens before its routes. Throws at startup if a route does not declare what it needs, and
 * `out_of_scope` for calls beyond the scope of their token that the owner has not allowed.
 */
export function requireScopes(scope: Api, deps: Deps): void {
  scope.decorateRequest('allowedCall', null);
  scope.decorateRequest('refusal', null);
  scope.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.needs) throw new Error(`${method} ${url} does not declare what it needs of a token's scope`);
  });

  scope.addHook('onRequest', async (request) => {
    request.actor.wideningLink = linkFor(deps, request);
    if (!request.routeOptions.config.shownToOwner) await requireNeeded(deps, request);
  });

  // The owner is shown parts of the body, which has been read by now.
  scope.addHook('preValidation', async (request) => {
    if (request.routeOptions.config.shownToOwner) await requireNeeded(deps, request);
  });

  scope.addHook('onSend', async (request, reply) => {
    const { allowedCall, refusal } = request;
    if (refusal && reply.statusCode === 403) await listRefusal(deps, request, refusal);
    if (allowedCall && reply.statusCode >= 400) await returnAllowance(request.em, allowedCall.call, allowedCall.claim);
  });
}

async function requireNeeded(deps: Deps, request: FastifyRequest): Promise<void> {
  // Every route declares it, which its type does not say.
  const need = needOf(request.routeOptions.config.needs as NeedName);
  if (need.isFree?.(request, request.actor)) return;
  await applyAllowance(deps, request, { ...need.wanted, ...need.most });
  const missing = lackingIn(request.actor.scope, need.wanted);
  if (!missing) return;
  await request.routeOptions.config.precondition?.(request);
  throw outOfScope(request.actor, { ...(await lackingSite(request)), ...missing });
}

/** The site of the path, if the account has access to it and the token does not: one refusal names everything. */
async function lackingSite({ em, actor, params }: FastifyRequest): Promise<PartOfScope | null> {
  const { id = '' } = params as { id?: string };
  const person = personOf(actor.accountId);
  const site = (await findSite(em, person, id)) ?? (await findDeployment(em, person, id))?.site;
  return site ? lackingIn(actor.scope, { sites: [site.id] }) : null;
}

/** Adds to the actor what its owner has allowed for this call, if the call may need more than the token has. */
async function applyAllowance({ clock }: Deps, request: FastifyRequest, most: PartOfScope): Promise<void> {
  const { actor } = request;
  if (actor.scope.sites === 'all' && !lackingIn(actor.scope, most)) return;
  const call = callOf(request);
  const claim = { at: clock.now(), key: keyOf(request) };
  const allowance = await useAllowance(request.em, claim.at, call, claim.key);
  if (!allowance) return;
  if (allowance.claimed) request.allowedCall = { call, claim };
  actor.scope = widened(actor.scope, allowance.missing);
  actor.handsOn = widened(actor.handsOn, allowance.handsOn);
}

/** Only a repeated POST of the very same address returns its first response, and only where the route can repeat it. */
function keyOf({ method, url, headers, routeOptions }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (method !== 'POST' || typeof key !== 'string' || !routeOptions.config.replay) return undefined;
  return createHash('sha256').update(`${url}\0${key}`).digest('base64url');
}

function callOf(request: FastifyRequest): NamedCall {
  const path = decoded(request.url.split('?', 1)[0] ?? '');
  const subject = path.length <= subjectMax ? path : `${path.slice(0, subjectMax)}…${hashOf(path)}`;
  const shown = shownFields(request);
  return {
    tokenId: request.actor.tokenId,
    operation: request.routeOptions.config.operation ?? '',
    subject: shown.length === 0 ? subject : `${subject}#${hashOf(JSON.stringify(shown))}`,
  };
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** What the call sets, of the fields that the owner is shown. */
function shownFields({ body, routeOptions }: FastifyRequest): [field: string, value: string][] {
  const fields = (body ?? {}) as Record<string, unknown>;
  const { shownToOwner = [] } = routeOptions.config;
  return shownToOwner.flatMap((field) => {
    const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
    return typeof value === 'string' ? [[field, value]] : [];
  });
}

/** As part of a sentence and of a link: one short line, in which nothing is invisible. */
function shownText([field, value]: [field: string, value: string]): string {
  const line = value
    .toWellFormed()
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
  const [letters, isLong] = [[...line].slice(0, shownMax).join(''), [...line].length > shownMax];
  return `${field} “${letters}${isLong ? '…' : ''}”`;
}

/** As the router reads it: an encoded id names the same site. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function linkFor({ config, clock }: Deps, request: FastifyRequest) {
  return (missing: PartOfScope, { handsOn = false } = {}): string | undefined => {
    if (!capabilitiesOf(config).email_signin) return undefined;
    const { tokenId: token, ...call } = callOf(request);
    const does = request.routeOptions.schema?.summary ?? call.operation;
    const shown = shownFields(request).map(shownText).join(', ');
    const summary = shown === '' ? does : `${does}: ${shown}`;
    const until = clock.now().getTime() + linkMs;
    const more = handsOn ? { handsOn: true as const } : {};
    request.refusal = { token, ...call, summary, missing, ...more, until };
    return wideningLink(config, request.refusal);
  };
}

/** After the call's own transaction. A call is refused all the same if this fails. */
async function listRefusal({ em, clock }: Deps, { actor, log }: FastifyRequest, refused: Refusal): Promise<void> {
  const { accountId } = actor;
  await recordRefusal(em(), clock.now(), { accountId, refused }).catch((err: unknown) =>
    log.warn({ err }, 'a refused call could not be listed in the inbox'),
  );
}
