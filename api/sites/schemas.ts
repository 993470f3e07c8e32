import { z } from 'zod';
import { type Actor, roleOf } from '#api/access.ts';
import { listOf, pageQuery } from '#api/pagination.ts';
import { moment } from '#api/schemas.ts';
import { repositoryAddress } from '#api/source/schemas.ts';
import { blockOf } from '#db/sites/blocks.ts';
import type { FormerName } from '#db/sites/former-names.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import { hexColor } from '#rules/page-colors.ts';
import { publicSiteStatus, publicSiteStatuses } from '#rules/site-deletion.ts';
import type { Config } from '#runtime/config.ts';
import { siteAddress, siteHostname } from '#runtime/site-addresses.ts';

const name = z
  .string()
  .min(2)
  .max(40)
  // Two hyphens in a row are reserved for the platform's hosts and for internationalised names (RFC 5891 section 4.2.3.1).
  .regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    'a name must consist of lower-case letters, digits, and single hyphens between them',
  )
  .describe('The first part of the site’s address: 2 to 40 lower-case letters, digits and hyphens.');
const title = z
  .string()
  .trim()
  .min(1)
  .max(120)
  .refine((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), 'a title must be a single line of text')
  .describe('The site’s title, for display: one line.');

export const siteInput = z.strictObject({
  name,
  title,
  template: z
    .string()
    .nullable()
    .default('blank')
    .describe(
      `The name of a template from ${call('template.list')}; \`blank\` if absent. With null the site has no source: push an existing repository, whose history may contain anything.`,
    ),
});
const color = z.string().regex(hexColor, 'must be a colour such as #2f5d50').toLowerCase();
export const pageColors = z
  .strictObject({ accent: color, background: color })
  .describe(
    'Two colours, as #rrggbb, of the site’s pages on the platform: its booking page and the pages of its forms. Text colours are chosen so that text is readable.',
  );

export const siteChange = z
  .strictObject({
    title,
    name,
    colors: pageColors
      .nullable()
      .describe('Colours of the booking page and of the pages of forms. null: the usual ones.'),
  })
  .partial();
export type SiteChange = z.output<typeof siteChange>;

export const siteList = pageQuery.extend({
  status: z
    .enum(publicSiteStatuses)
    .optional()
    .describe('Only sites with this status. Sites that are being deleted are listed only with `deleting`.'),
});

/** What the deletion of a site asks for. */
export const siteDeletion = z.strictObject({
  confirm: z.enum(['true', 'false']).default('false'),
  discard: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Delete the site although payments or bookings are open. Open payments expire.'),
});

export const siteSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    title: z.string(),
    template: z.string().nullable().describe('Null if the site was created without one.'),
    status: z
      .enum(publicSiteStatuses)
      .describe('`deleting`: its owner has deleted it, and can restore it until `delete_at`.'),
    address: z
      .string()
      .describe(
        'The site’s address for visitors. It is permanent, and redirects to the primary domain if the site has one.',
      ),
    git: z.object({ source: z.string(), content: z.string() }).describe('URLs of the site’s two git repositories.'),
    live_deployment_id: z.string().nullable(),
    open_comments: z.number().int().describe('Number of open comment threads.'),
    public_id: z.string(),
    colors: pageColors.nullable(),
    role: z.enum(['owner', 'collaborator']),
    created_at: moment,
    archived_at: moment.nullable(),
    delete_at: moment.nullable().describe('When the site is deleted for good; null unless its status is `deleting`.'),
    blocked: z
      .object({ at: moment, reason: z.string() })
      .nullable()
      .describe(
        'When and why the operator blocked the site; null if it is not blocked. Visitors of a blocked site receive a 451 response.',
      ),
  })
  .meta({ id: 'Site' });

export const archivedSiteSchema = siteSchema
  .extend({
    next_action: z.string().optional().describe('Bookings and payments that remain, and what to do about them.'),
  })
  .meta({ id: 'ArchivedSite' });

export const sitesSchema = listOf(siteSchema).extend({ next_action: z.string().optional() });

/** Where nothing else is listed. */
export const listDeleting = `Sites that are being deleted are not in this list. ${call('site.list', { status: 'deleting' })} lists them; until they are deleted for good, each can be restored.`;

export const siteDetailSchema = siteSchema
  .extend({
    has_unpublished_changes: z.boolean(),
    unpublished_changes: z
      .object({ source: z.boolean(), content: z.boolean(), address: z.boolean() })
      .describe('What the next publish changes. `address`: the live pages name an earlier address of the site.'),
    former_hostnames: z
      .array(z.object({ hostname: z.string(), redirects_until: moment }))
      .describe('Hosts of earlier names, which redirect to the site’s address with path and query.'),
    next_action: z.string().optional(),
  })
  .meta({ id: 'SiteDetail' });

export type UnpublishedChanges = { source: boolean; content: boolean; address: boolean };

/** `openComments` is the site's count from `openCommentsOf`. */
export type SiteContext = { config: Config; actor: Actor; openComments: number };

export function siteView(site: Site, { config, actor, openComments }: SiteContext): z.output<typeof siteSchema> {
  return {
    id: site.id,
    name: site.name,
    title: site.title,
    template: site.template || null,
    status: publicSiteStatus(site),
    address: siteAddress(config, site.name),
    git: {
      source: repositoryAddress(config, site.id, 'source'),
      content: repositoryAddress(config, site.id, 'content'),
    },
    live_deployment_id: site.liveDeploymentId ?? null,
    open_comments: openComments,
    public_id: site.publicId,
    colors: site.colors ?? null,
    role: roleOf(site, actor),
    created_at: site.createdAt,
    archived_at: site.archivedAt ?? null,
    delete_at: site.deleteAt ?? null,
    blocked: blockOf(site),
  };
}

export function siteDetailView(
  site: Site,
  { changes, formerNames }: { changes: UnpublishedChanges; formerNames: readonly FormerName[] },
  context: SiteContext,
): z.output<typeof siteDetailSchema> {
  return {
    ...siteView(site, context),
    has_unpublished_changes: changes.source || changes.content || changes.address,
    unpublished_changes: changes,
    former_hostnames: formerNames.map(({ name, until }) => ({
      hostname: siteHostname(context.config, name),
      redirects_until: until,
    })),
    ...(changes.address ? { next_action: republish(site) } : {}),
  };
}

/** After a change of the title. */
export const retitle = ({ id }: Site): string =>
  `The title names the site in e-mails and on the platform’s pages. The site’s own pages stay as they are: if they show the old title, change it in the source (${call('source.commit', { id })}) and publish.`;

const republish = ({ id }: Site) =>
  `The live pages still name an earlier address of the site. Call ${call('site.publish', { id })} to build them with the present one.`;
