/** Writing the history: each act is recorded in its own transaction. */
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { type Action, actions, type Via } from '#rules/history.ts';
import type { Clock } from '#runtime/clock.ts';
import { newId } from '#runtime/ids.ts';
import { HistoryEntry } from './history-entry.ts';

/** Who acts. Without `via` it is a person in a browser. `entryId`: the entry of a call that records one act. */
export type ActedBy = { accountId: string; via?: Via | undefined; entryId?: string | undefined };

/** A person in a browser. */
export const person: Via = { kind: 'person', name: null };

/** The service itself or its operator, on something of the account. */
export const platformFor = (accountId: string): ActedBy => ({ accountId, via: { kind: 'platform', name: null } });

export type Act = {
  /** The site that it concerns. The entry belongs to its owner. */
  site?: Pick<Site, 'id' | 'name' | 'account'> | undefined;
  /** The account that it belongs to where it concerns no site; by default the actor's. */
  ownerId?: string;
  /** By default the site. */
  subject?: { id: string; name: string | null };
  /** Facts for the owner: no secrets, and no words of visitors. */
  detail?: Record<string, unknown>;
};

/** Adds an entry to the history. It is written with the flush that ends the caller's transaction. */
export function recordAct(
  tx: EntityManager,
  clock: Clock,
  { accountId, via = person, entryId = newId('hist') }: ActedBy,
  action: Action,
  { site, ownerId, subject = site, detail = {} }: Act,
): HistoryEntry {
  if (!subject) throw new Error(`${action} has no subject`);
  const owner = site?.account.id ?? ownerId ?? accountId;
  const ownersOnly = actions[action].ownersOnly ?? false;
  return tx.create(HistoryEntry, {
    id: entryId,
    at: clock.now(),
    ownerId: owner,
    siteId: site?.id ?? null,
    actorId: accountId,
    elsewhereId: owner === accountId || ownersOnly ? null : accountId,
    viaKind: via.kind,
    viaName: via.name,
    action,
    ownersOnly,
    subjectId: subject.id,
    subjectName: subject.name,
    detail,
  });
}
