import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import type { Config } from '#runtime/config.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import type { Slot } from './slots.ts';

export const slotParams = z.object({
  id: z.string(),
  slot: z.string().describe('Number of the preview slot, starting at 1.'),
});

export const slotSchema = z
  .object({
    slot: z.number().int(),
    status: z
      .enum(['empty', 'building', 'draft', 'expired'])
      .describe(
        '`draft`: built, and shown at `address`, but not live. `expired`: the draft is older than 14 days, is no longer served, and will be removed.',
      ),
    branched: z.boolean().describe('Whether either repository has the branch `preview/<n>`.'),
    behind: z.boolean().describe('Whether the site has changed since the draft was built.'),
    holds_work: z.boolean().describe('Whether the branch has commits that are not on the site.'),
    address: z.string().nullable().describe('URL of the draft, on an unguessable hostname.'),
    deployment_id: z.string().nullable().describe('Id of the draft’s deployment.'),
    build_id: z
      .string()
      .nullable()
      .describe(`Id of the most recently requested build; ${call('deployment.log')} streams its log.`),
    expires_at: moment.nullable(),
    failed_deployment_id: z
      .string()
      .nullable()
      .describe(`Id of the latest build, if it failed; ${call('deployment.read')} returns the reason.`),
    next_action: z.string().optional().describe('The next step, if there is one.'),
  })
  .meta({ id: 'PreviewSlot' });

export function slotView(slot: Slot, { config, site }: { config: Config; site: Site }): z.output<typeof slotSchema> {
  const { preview, draft, status } = slot;
  const isShown = preview !== undefined && draft !== undefined && !slot.isExpired;
  const waitsFor = nextAction(slot, site) ?? (config.screenshots ? lookFirst(slot, site) : undefined);
  return {
    slot: slot.slot,
    status,
    branched: slot.branched,
    behind: slot.behind,
    holds_work: slot.holdsWork,
    address: isShown ? siteAddress(config, preview.label) : null,
    deployment_id: draft?.id ?? null,
    build_id: slot.latest?.id ?? null,
    expires_at: preview?.expiresAt ?? null,
    failed_deployment_id: slot.latest?.status === 'failed' ? slot.latest.id : null,
    ...(waitsFor === undefined ? {} : { next_action: waitsFor }),
  };
}

/** Before a draft is published, its maker sees what it changes. */
function lookFirst({ draft, holdsWork }: Slot, { liveDeploymentId }: Site): string | undefined {
  if (!draft || !holdsWork || !liveDeploymentId) return undefined;
  return `Before you publish it, see which pages look different with ${call('deployment.compare', { id: draft.id })}.`;
}

function nextAction({ slot, status, latest, draft, tips, behind, holdsWork }: Slot, { id }: Site): string | undefined {
  const place = { id, slot };
  const build = call('preview.build', place);
  if (status === 'building') return `Call ${call('preview.read', place)} again in about 5 seconds.`;
  if (status === 'expired') return `Build a new draft with ${build}.`;
  if (latest?.status === 'failed') {
    return `The last build failed. Call ${call('deployment.read', { id: latest.id })} for the reason, fix the problem, and build again with ${build}.`;
  }
  if (!draft) return holdsWork ? `Build the slot’s branch with ${build}.` : undefined;
  const isShown = (tip: string | null, shown: string | null | undefined) => tip === null || tip === shown;
  if (!isShown(tips.source, draft.sourceCommit) || !isShown(tips.content, draft.contentCommit)) {
    return `The branch has commits that are not in the draft, so publishing would not include them. Rebuild the draft with ${build}.`;
  }
  if (!behind) return undefined;
  return `The site has changed since the draft was built. Update the draft with ${holdsWork ? call('preview.update', place) : build}.`;
}
