/** Wakes the calls that wait for the inbox. Tables of the first release do it with triggers. */
import type { EntityManager } from '#db/orm.ts';

/** Wakes those of the site's people or of the account, named by its id, when the transaction commits. */
export async function notifyInbox(tx: EntityManager, topic: string): Promise<void> {
  await tx.execute('select tell_inbox(?)', [topic]);
}
