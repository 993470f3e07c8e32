/** The transaction that imports a site. */
import { setTimeout as pause } from 'node:timers/promises';
import { withClient } from '#db/client.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { type Made, place, takeBack } from './repositories.ts';
import { type Put, recordFiles, requireNew, startScan, type Taken, writeRows } from './rows.ts';

type Deps = { config: Config; clock: Clock };
const name = 'frontage import';

/** Validates the rows in a transaction that is rolled back. Returns the plans of the account. */
export async function tryRows({ config, clock }: Deps, taken: Taken): Promise<string | null> {
  return await withClient(config.databaseUrl, name, async (client) => {
    await client.query('begin');
    const subscriptions = await requireNew(client, clock, taken);
    await writeRows(client, { config, clock }, taken);
    await client.query('rollback');
    return subscriptions;
  });
}

/** Moves the repositories while this transaction holds the site's key. Throws ExportFault. */
export async function commitSite(
  { config, clock }: Deps,
  taken: Taken,
  { put, made }: { put: Put; made: readonly Made[] },
): Promise<void> {
  let transaction: string | undefined;
  try {
    await withClient(config.databaseUrl, name, async (client) => {
      await client.query('begin');
      await requireNew(client, clock, taken);
      await writeRows(client, { config, clock }, taken);
      await recordFiles(client, taken.document, put);
      await startScan(client, clock, taken.document);
      const { rows } = await client.query('select pg_current_xact_id()::text as id');
      await place(made);
      transaction = rows[0].id;
      await client.query('commit');
    });
  } catch (error) {
    // From here on the rows may have been committed, even if this process got an error.
    if (transaction === undefined) throw error;
    const committed = await hasCommitted(config.databaseUrl, transaction);
    if (committed) return;
    if (committed === false) await takeBack(made);
    throw error;
  }
}

const asksMax = 150;
const askEveryMs = 200;

/** Undefined if the outcome cannot be determined; unused repositories are deleted after a day. */
async function hasCommitted(databaseUrl: string, transaction: string): Promise<boolean | undefined> {
  const ask = async (): Promise<boolean | undefined> =>
    await withClient(databaseUrl, name, async (client) => {
      for (let asks = 0; asks < asksMax; asks++) {
        const { rows } = await client.query('select pg_xact_status($1::text::xid8) as status', [transaction]);
        if (rows[0].status === 'committed') return true;
        if (rows[0].status === 'aborted') return false;
        await pause(askEveryMs);
      }
      return undefined;
    });
  return await ask().catch(() => undefined);
}
