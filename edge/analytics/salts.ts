/**
 * The key of visitors' hashes: a random salt that all edges share for one UTC day, and the secret. The salt is a row, since edges on several
 * machines share nothing else; it is deleted when the day is over, and from then on a hash tells nothing, not even to who has the secret.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { dateText, later } from '#db/analytics/calendar.ts';
import { hourMs } from '#rules/time.ts';
import type { CountsDatabase } from './database.ts';

const saltBytes = 32;
/** The next day's salt is fetched this long before. */
const aheadMs = hourMs / 4;

export type Salts = {
  /** Of the present day. Before the shared one is known, one of this process alone. */
  key(): string;
  /** Brings it up to date. Rejects when the database does not answer. */
  keep(now: Date): Promise<void>;
};

export function openSalts({ database, secret }: { database: Pick<CountsDatabase, 'saltOf'>; secret: string }): Salts {
  const known = new Map<string, string>();
  let day = '';
  let key = newKey();
  let asking: Promise<void> | undefined;

  function newKey(salt: Buffer = randomBytes(saltBytes)): string {
    return createHmac('sha256', secret).update('visitors of a day\0').update(salt).digest('base64url');
  }

  async function learn(now: Date): Promise<void> {
    for (const name of [dateText(now), dateText(later(now, aheadMs))])
      if (!known.has(name)) known.set(name, newKey(await database.saltOf(name, randomBytes(saltBytes))));
    for (const name of known.keys()) if (name < dateText(now)) known.delete(name);
  }

  return {
    key: () => key,
    async keep(now) {
      const today = dateText(now);
      if (today !== day) key = known.get(today) ?? newKey();
      day = today;
      asking ??= learn(now).finally(() => {
        asking = undefined;
      });
      try {
        await asking;
      } finally {
        key = known.get(day) ?? key;
      }
    },
  };
}
