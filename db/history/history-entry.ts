import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Action, Via } from '#rules/history.ts';

/**
 * One act. It names accounts and resources by id, without foreign keys: it outlives them.
 */
export const HistoryEntry = defineEntity({
  name: 'HistoryEntry',
  properties: {
    id: p.text().primary(),
    at: p.datetime(),
    /** The account that it belongs to: the owner of the site, or of the subject. */
    ownerId: p.text(),
    siteId: p.text().nullable(),
    /** The account that acted; where the platform did, the owner. */
    actorId: p.text(),
    /** The same, if that is another account, whose history then has the entry too. */
    elsewhereId: p.text().nullable(),
    viaKind: p.text().$type<Via['kind']>(),
    /** The name that the token had. */
    viaName: p.text().nullable(),
    action: p.text().$type<Action>(),
    /** Whether only the owner sees it. */
    ownersOnly: p.boolean(),
    subjectId: p.text(),
    subjectName: p.text().nullable(),
    detail: p.json().$type<Record<string, unknown>>(),
  },
});
export type HistoryEntry = InferEntity<typeof HistoryEntry>;
