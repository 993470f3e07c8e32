/** What an owner ticks for an agent or an app: on which sites, with which powers. */
import type { FastifyRequest } from 'fastify';
import { personOf, sitesOf } from '#api/access.ts';
import { readForm } from '#api/plugins/browser.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { type Scope, scopeSitesMax, usualScope } from '#rules/scopes.ts';
import type { Config } from '#runtime/config.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import type { SiteChoice } from '#web/pages/scope.ts';

/** As the form says it, before the sites are checked. */
export type ScopeChoice = Scope;

/** A form without these fields chooses the usual scope. */
export function readChoice(request: FastifyRequest): ScopeChoice {
  const { field, all } = readForm(request);
  return {
    sites: field('sites') === 'some' ? all('site').slice(0, scopeSitesMax) : usualScope.sites,
    access: field('access') === 'read' ? 'read' : usualScope.access,
    payouts: field('payouts') === 'yes',
    account: field('account') === 'yes',
  };
}

/** Whether the owner meant some sites and ticked none. */
export const isEmptyChoice = ({ sites }: ScopeChoice): boolean => sites.length === 0;

/** The scope that the owner chose, with sites that the account has access to. */
export async function scopeChosen(em: EntityManager, accountId: string, choice: ScopeChoice): Promise<Scope> {
  if (choice.sites === 'all') return choice;
  const reachable = await sitesOf(em, { ...personOf(accountId), scope: choice });
  const sites = await em.find(Site, reachable, { fields: ['id'] });
  return { ...choice, sites: sites.map(({ id }) => id) };
}

/** The sites to choose from, newest first; or those of a scope. */
export async function siteChoices(
  em: EntityManager,
  config: Config,
  accountId: string,
  scope: Scope = usualScope,
): Promise<SiteChoice[]> {
  const newest = { orderBy: { id: 'desc' as const }, limit: scopeSitesMax };
  const sites = await em.find(Site, await sitesOf(em, { ...personOf(accountId), scope }), newest);
  return sites.map(({ id, name, title }) => ({ id, title, hostname: siteHostname(config, name) }));
}
