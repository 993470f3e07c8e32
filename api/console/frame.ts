/** What every page of the console has: the account of the session, its forms, and for a site's pages the site. */
import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findSite, roleOf } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import type { Operations } from '#api/operations/operations.ts';
import { formsFor, pageOptions } from '#api/plugins/browser.ts';
import { blockOf } from '#db/sites/blocks.ts';
import type { Site } from '#db/sites/site.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import type { Frame, Refused, SiteFrame } from '#web/console/frame.ts';
import { html } from '#web/html.ts';
import type { Form } from '#web/pages/form.ts';
import { day } from '#web/times.ts';
import { takeNotice } from './notices.ts';

/** What the console's routes are made of. `operations` are the API's. */
export type Console = { app: Api; deps: Deps; operations: Operations };

export type Named = { Params: { id: string } };

/** Options of a page that only reads. */
export const consolePage = (name: string) => pageOptions(`console.${name}`, 'email_signin');

/** The frame of a page of the account. */
export function frameOf(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Deps,
  refused: Refused | null = null,
): Frame {
  const { name, email } = sessionAccount(request);
  return {
    form: withKey(formsFor(request, reply, deps)),
    now: deps.clock.now(),
    account: { name, email },
    notice: refused ? null : takeNotice(request, reply),
    refused,
  };
}

/** The frame of a page of the site in the request's path. Throws as `siteOfPage` does. */
export async function siteFrameOf(
  request: FastifyRequest<Named>,
  reply: FastifyReply,
  deps: Deps,
  refused: Refused | null = null,
): Promise<{ site: Site; frame: SiteFrame }> {
  const site = await siteOfPage(request);
  const { id, title, name, status } = site;
  const head = {
    id,
    title,
    address: siteAddress(deps.config, name),
    role: roleOf(site, request.actor),
    archived: status === 'archived',
    blocked: blockOf(site)?.reason ?? null,
  };
  return { site, frame: { ...frameOf(request, reply, deps, refused), site: head } };
}

/**
 * Throws the same `not_found` for a site that does not exist, of a stranger, or under deletion. To the owner, the last
 * says until when it can be restored.
 */
export async function siteOfPage({ em, actor, params }: FastifyRequest<Named>): Promise<Site> {
  const site = await findSite(em, actor, params.id);
  if (site && !site.deleteAt) return site;
  if (site?.deleteAt && !site.purgedAt && roleOf(site, actor) === 'owner') {
    throw errors.not_found(
      `${site.title} will be deleted for good on ${day(site.deleteAt)}. Until then, you can restore it: open your account, and choose Restore beside it.`,
    );
  }
  throw errors.not_found('There is no website here that your account can open. It may have been deleted.');
}

/** The account of the session, which is loaded with it. */
export function sessionAccount({ session }: FastifyRequest): { id: string; name: string; email: string } {
  if (!session) throw errors.not_found('Sign in first.');
  return session.account;
}

/** A form that is sent twice acts once: its key is the `Idempotency-Key` of the call. */
function withKey(form: Form): Form {
  return (attributes, inside) =>
    form(attributes, html`<input type="hidden" name="key" value="${randomUUID()}">${inside}`);
}
