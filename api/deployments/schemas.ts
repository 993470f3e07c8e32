import { z } from 'zod';
import type { Person } from '#api/access.ts';
import { viaFor } from '#api/history/schemas.ts';
import { moment, via } from '#api/schemas.ts';
import { type Deployment, warningKinds } from '#db/deployments/deployment.ts';
import { call } from '#rules/calls/calls.ts';
import {
  deploymentStatuses,
  isRestorable,
  isSettled,
  publicDeploymentKind,
  publicDeploymentKinds,
} from '#rules/states.ts';

const warnings = z.object({
  items: z
    .array(
      z.object({
        kind: z.enum(warningKinds),
        path: z.string(),
        target: z.string().optional(),
        message: z.string().describe('Names the first place.'),
        count: z.number().int().describe('How often it was found.'),
        places: z.array(z.string()).describe('The first five places.'),
      }),
    )
    .describe('One warning for each cause; at most 100.'),
  counts: z.record(z.enum(warningKinds), z.number().int()),
  pages: z
    .object({ read: z.number().int(), all: z.number().int() })
    .describe('How many of the site’s pages were checked. On a large site, not all pages are checked.'),
});

export const deploymentSchema = z
  .object({
    id: z.string(),
    site_id: z.string(),
    number: z.number().int().describe('Version number within the site.'),
    kind: z.enum(publicDeploymentKinds),
    status: z.enum(deploymentStatuses),
    restorable: z.boolean().describe(`Whether the deployment can be restored with ${call('deployment.restore')}.`),
    file_count: z.number().int().nullable(),
    total_bytes: z.number().int().nullable(),
    source_commit: z.string().nullable(),
    content_commit: z.string().nullable(),
    superseded_by: z.string().nullable().describe('The id of the newer deployment that superseded this one.'),
    created_by: z.string().describe('The id of the account.'),
    created_via: via.nullable().describe('How that account created it. Null for deployments of older releases.'),
    created_at: moment,
    started_at: moment.nullable(),
    finished_at: moment.nullable(),
    live_at: moment.nullable().describe('When it last went live.'),
    live_spans: z
      .array(z.object({ from: moment, to: moment.nullable() }))
      .describe('When it was live, oldest first; at most 50 times. `to` is null while it is live.'),
    warnings: warnings
      .optional()
      .describe(
        'Problems in the published output. Included only when you read a single deployment, and in the response to a publish or upload that went live.',
      ),
    address: z
      .string()
      .optional()
      .describe('The address of the site. In the response to a publish, and when you read a single deployment.'),
    next_action: z
      .string()
      .optional()
      .describe('The next step. Absent once the deployment has finished, unless another one took its place.'),
    error: z
      .object({
        code: z.string(),
        message: z.string(),
        retryable: z.boolean(),
        next_action: z.string().optional(),
        detail: z
          .string()
          .optional()
          .describe('The build log, with the error first. Included only when you read a single deployment.'),
      })
      .optional()
      .describe('Why the deployment failed.'),
  })
  .meta({ id: 'Deployment' });

const changedFile = z.object({ path: z.string(), bytes: z.number().int() });

export const deploymentDetailSchema = deploymentSchema
  .extend({
    changes: z
      .object({
        against: z.string().nullable().describe('The id of the previous version; null for the first.'),
        added: z.array(changedFile),
        modified: z.array(changedFile),
        removed: z.array(changedFile),
        counts: z.object({ added: z.number().int(), modified: z.number().int(), removed: z.number().int() }),
      })
      .nullable()
      .describe('At most 200 files for each kind of change; null if nothing was built.'),
    missing: z
      .array(z.string())
      .optional()
      .describe(
        'Hashes of files in the manifest that have not been sent yet, at most 5,000. Included only for an unfinished upload.',
      ),
    commits: z.array(
      z.object({ sha: z.string(), subject: z.string(), author: z.string(), repository: z.enum(['source', 'content']) }),
    ),
  })
  .meta({ id: 'DeploymentDetail' });

export const manifestFileSchema = z
  .object({ path: z.string(), sha256: z.string(), bytes: z.number().int() })
  .meta({ id: 'ManifestFile' });

/** `detail` is the end of the build log; only a single read of a failed deployment has it. */
export function deploymentView(
  deployment: Deployment,
  viewer: Person,
  now: Date,
  detail?: string,
): z.output<typeof deploymentSchema> {
  const { id, error, createdBy, createdVia, createdViaName } = deployment;
  const status = statusAt(deployment, now);
  return {
    id,
    site_id: deployment.site.id,
    number: deployment.number,
    kind: publicDeploymentKind(deployment.kind),
    status,
    restorable: isRestorable(deployment),
    file_count: deployment.fileCount ?? null,
    total_bytes: deployment.totalBytes ?? null,
    source_commit: deployment.sourceCommit ?? null,
    content_commit: deployment.contentCommit ?? null,
    superseded_by: deployment.supersededById ?? null,
    created_by: createdBy.id,
    created_via: createdVia ? viaFor(viewer, createdBy.id, { kind: createdVia, name: createdViaName ?? null }) : null,
    created_at: deployment.createdAt,
    started_at: deployment.startedAt ?? null,
    finished_at: deployment.finishedAt ?? null,
    live_at: deployment.liveAt ?? null,
    live_spans: deployment.liveSpans.map(({ from, to }) => ({ from: new Date(from), to: to ? new Date(to) : null })),
    ...nextStep(deployment, status),
    ...(error ? { error: { ...error, ...(detail === undefined ? {} : { detail }) } } : {}),
  };
}

/** An upload past its deadline has expired, even if the row does not say so yet. */
function statusAt({ status, uploadEndsAt }: Deployment, now: Date): Deployment['status'] {
  return status === 'uploading' && uploadEndsAt && uploadEndsAt <= now ? 'cancelled' : status;
}

function nextStep(deployment: Deployment, status: Deployment['status']): { next_action?: string } {
  const { supersededById: later } = deployment;
  if (!isSettled(status)) return { next_action: nextAction(deployment, status) };
  if (status !== 'superseded' || !later) return {};
  return {
    next_action: `A later version took its place. Call ${call('deployment.read', { id: later })} to see whether it is live.`,
  };
}

function nextAction({ id, uploadEndsAt }: Deployment, status: Deployment['status']): string {
  if (status !== 'uploading') return `Call ${call('deployment.read', { id })} again in about 5 seconds.`;
  return (
    `Send the list of files with ${call('deployment.manifest', { id })}, then the missing files with ${call('deployment.send_file', { id })}, ` +
    `then call ${call('deployment.complete', { id })}, all before ${uploadEndsAt?.toISOString()}.`
  );
}
