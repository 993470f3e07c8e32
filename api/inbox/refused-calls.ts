/** Calls that tokens of the account were refused, until the owner answers or the token no longer lacks what they need. */

import { wordsFor } from '#api/access.ts';
import { refusalOf, waitingRefusals } from '#api/scopes/refusals.ts';
import { wideningLink } from '#api/scopes/widening.ts';
import type { PartOfScope } from '#rules/scopes.ts';
import { unfinished } from './done.ts';
import { type CodeSource, type InboxItem, whoseDone } from './item.ts';

/** A reader that is limited to some sites sees calls about these alone. */
export const refusedCalls: CodeSource = async (em, reader, since, context) => {
  const { accountId, scope, sites } = reader;
  const { config, now } = context;
  const open = {
    createdAt: { $gt: since },
    [unfinished(whoseDone(reader, context), { kind: 'access_to_widen', at: 'created_at' })]: [],
  };
  const waiting = (await waitingRefusals(em, now, accountId, open))
    .map((call) => ({ call, named: sitesNamed(call) }))
    .filter(({ named }) => scope.sites === 'all' || (named.length > 0 && named.every((id) => sites.has(id))));
  return waiting.map(({ call, named }): InboxItem => {
    const siteId = named.find((id) => sites.has(id));
    const refusal = refusalOf(call);
    return {
      kind: 'access_to_widen',
      id: call.id,
      site: siteId === undefined ? null : { id: siteId, name: sites.get(siteId) as string },
      who: call.token.name,
      at: call.createdAt,
      title: `The token “${call.token.name}” was refused a call: ${call.summary}. It lacks ${wordsFor(call.missing).join(', ')}.`,
      nextAction: `Ask the account’s owner to sign in and allow it once or always, or refuse it. Link for the owner: ${wideningLink(config, refusal)}`,
      refusal: { attempt: call.summary, page: wideningLink({ baseUrl: '', secret: config.secret }, refusal) },
    };
  });
};

/** Ids of the sites that the call names, or lacks. */
function sitesNamed({ subject, missing: { sites = [] } }: { subject: string; missing: PartOfScope }): string[] {
  const named = [...subject.matchAll(/site_[0-9a-z]{26}/g)].map(([id]) => id);
  return [...new Set([...named, ...(sites === 'all' ? [] : sites)])];
}
