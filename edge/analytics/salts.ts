/**
 * The key of visitors' hashes: the secret and a random salt, which all edges share for one UTC day. The salt is a row, because edges on
 * several machines share nothing else. It is deleted after the day; from then on hashes reveal nothing, even with the secret.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { dateText, later } from '#db/analytics/calendar.ts';
import { hourMs } from '#rules/time.ts';
import type { ViewsDatabase } from './database.ts';

const saltBytes = 32;
/** How long before midnight the next day's salt is fetched. */
const aheadMs = hourMs / 4;

export type Salts = {
  /** The key of the current day. Until the shared salt is loaded, one of this process alone. */
  key(): string;
  /** Loads the current salts. Rejects if the database does not respond. */
  refresh(now: Date): Promise<void>;
};

export function createSalts({ database, secret }: { database: Pick<ViewsDatabase, 'saltOf'>; secret: string }): Salts {
  const known = new Map<string, string>();
  let day = '';
  let key = newKey();
  let fetching: Promise<void> | undefined;

  function newKey(salt: Buffer = randomBytes(saltBytes)): string {
    return createHmac('sha256', secret).update('visitors of a day\0').update(salt).digest('base64url');
  }

  async function fetchSalts(now: Date): Promise<void> {
    for (const name of [dateText(now), dateText(later(now, aheadMs))])
      if (!known.has(name)) known.set(name, newKey(await database.saltOf(name, randomBytes(saltBytes))));
    for (const name of known.keys()) if (name < dateText(now)) known.delete(name);
  }

  return {
    key: () => key,
    async refresh(now) {
      const today = dateText(now);
      if (today !== day) key = known.get(today) ?? newKey();
      day = today;
      fetching ??= fetchSalts(now).finally(() => {
        fetching = undefined;
      });
      try {
        await fetching;
      } finally {
        key = known.get(day) ?? key;
      }
    },
  };
}
