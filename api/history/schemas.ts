import { z } from 'zod';
import type { Person } from '#api/access.ts';
import { pageQuery } from '#api/pagination.ts';
import { instant, moment, via } from '#api/schemas.ts';
import type { HistoryEntry } from '#db/history/history-entry.ts';
import { actionNames, actions, subjectKindOf, type Via } from '#rules/history.ts';

export const historyQuery = pageQuery.extend({
  since: instant.optional().describe('Only acts at or after this time.'),
});

const sentences = actionNames.map((name) => `- \`${name}\`: ${actions[name].says}`);

export const historyEntrySchema = z
  .object({
    id: z.string(),
    at: moment,
    account: z
      .object({
        id: z.string(),
        name: z
          .string()
          .nullable()
          .describe('“Deleted account” after it was deleted for good. Null for the other party of a payout offer.'),
      })
      .describe('The account that acted. Where the service or its operator acted, the account that it concerns.'),
    via,
    action: z.enum(actionNames).describe(['What was done:', ...sentences].join('\n')),
    subject: z
      .object({ kind: z.string(), id: z.string(), name: z.string().nullable() })
      .describe('What it was done to, with the name that it had. `kind` is the first part of `action`.'),
    detail: z
      .record(z.string(), z.unknown())
      .describe('Facts about the act, such as old and new values, or the `message` of a commit.'),
  })
  .meta({ id: 'HistoryEntry' });

export type ReadEntry = { entry: HistoryEntry; actorName: string | null };

export function historyEntryView({ entry, actorName }: ReadEntry, viewer: Person): z.output<typeof historyEntrySchema> {
  const { id, at, actorId, viaKind, viaName, action, subjectId, subjectName, detail } = entry;
  return {
    id,
    at,
    // Neither party of a payout offer learns the name of the other.
    account: { id: actorId, name: actorId !== viewer.accountId && action.startsWith('payout_') ? null : actorName },
    via: viaFor(viewer, actorId, { kind: viaKind, name: viaName ?? null }),
    action,
    subject: { kind: subjectKindOf(action), id: subjectId, name: subjectName ?? null },
    detail,
  };
}

/** How the account acted, as the viewer may see it: another account's tokens have no names. */
export function viaFor(viewer: Pick<Person, 'accountId'>, actorId: string, { kind, name }: Via): Via {
  return { kind, name: actorId === viewer.accountId ? name : null };
}
