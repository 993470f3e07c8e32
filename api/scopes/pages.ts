/** `/account/widen`: the signed-in owner sees what a token was refused, and allows it once or always, or refuses. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { findSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { formsFor, pageOptions, readForm, sendPage } from '#api/plugins/browser.ts';
import { allowanceMs, period } from '#rules/periods.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { noticePage } from '#web/pages/notice.ts';
import { powersOf } from '#web/pages/scope.ts';
import { wideningPage } from '#web/pages/widening.ts';
import { readWideningLink, refusedToken, refuseWidening, wideningPath, widenToken } from './widening.ts';

type WideningQuery = { Querystring: { ask?: unknown } };

/** Requires a session. Opening the page allows nothing. */
export function wideningPages(app: Api, deps: Deps): void {
  const read = ({ query }: FastifyRequest<WideningQuery>) => readWideningLink(deps.config, deps.clock.now(), query.ask);

  app.get<WideningQuery>(wideningPath, pageOptions('token.show_refusal', 'email_signin'), (request, reply) =>
    show(request, reply),
  );

  app.post<WideningQuery>(wideningPath, pageOptions('token.widen', 'email_signin'), async (request, reply) => {
    const answer = readForm(request).field('answer');
    if (answer === 'refuse') {
      await refuseWidening(request.em, request.actor.accountId, read(request));
      return sendPage(reply, refusedNotice);
    }
    if (answer !== 'once' && answer !== 'always') throw errors.invalid_input('Press one of the buttons of the page.');
    await widenToken(request.em, deps, request.actor.accountId, read(request), answer);
    return sendPage(reply, answer === 'once' ? allowedOnce : allowedAlways);
  });

  async function show(request: FastifyRequest<WideningQuery>, reply: FastifyReply) {
    const refused = read(request);
    const { name } = await refusedToken(request.em, request.actor.accountId, refused);
    const names = await siteNames(request, refused.subject, refused.missing.sites);
    const page = {
      agentName: name,
      attempt: refused.summary,
      subject: [...names.values()].join(', ') || subjectId(refused.subject),
      powers: powersOf(refused.missing, (id) => names.get(id) ?? id),
      handsOn: refused.handsOn === true,
      form: formsFor(request, reply, deps),
    };
    return sendPage(reply, wideningPage(page));
  }

  /** Titles and hostnames of the sites that the call names, or lacks. */
  async function siteNames({ em, actor }: FastifyRequest, path: string, missing: 'all' | string[] = []) {
    const named = [...path.matchAll(/site_[0-9a-z]{26}/g)].map(([id]) => id);
    const names = new Map<string, string>();
    for (const id of new Set([...named, ...(missing === 'all' ? [] : missing)])) {
      const site = await findSite(em, actor, id);
      if (site) names.set(id, `“${site.title}” (${siteHostname(deps.config, site.name)})`);
    }
    return names;
  }
}

/** The last id in the path of a call. */
const subjectId = (path: string): string | null => path.match(/[a-z]+_[0-9a-z]{26}(?!.*_[0-9a-z]{26})/)?.[0] ?? null;

const refusedNotice = noticePage({
  title: 'Refused',
  text: 'Your agent gets no additional access. Your account page no longer lists this.',
  link: { href: '/account/agents', text: 'See connected agents' },
});
const allowedOnce = noticePage({
  title: 'Allowed once',
  text: `Tell your agent to try again within ${period(allowanceMs)}. Then it needs your permission again.`,
  lit: true,
  link: { href: '/account/agents', text: 'See connected agents' },
});
const allowedAlways = noticePage({
  title: 'Allowed from now on',
  text: 'Tell your agent to try again. You can revoke its access at any time.',
  lit: true,
  link: { href: '/account/agents', text: 'See connected agents' },
});
