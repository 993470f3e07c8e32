/**
 * Wakes the waiting requests of this process. NOTIFY is only an optimisation: one query a second for all of them finds
 * the changes. It finds rows by transaction id, as edges find changed sites, so that none is missed: see decision 004.
 */
import type { Deps } from '#runtime/deps.ts';

export type Follower = {
  /** Whether this topic, the id of a site or an account, may concern the follower. */
  concerns(topic: string): boolean;
  /** Called when there may be news for the follower; false alarms occur. */
  wake(): void;
};

export type News = {
  /** Resolves once no later commit can be missed. Returns a function that stops following. */
  follow(follower: Follower): Promise<() => void>;
};

const askEveryMs = 1_000;
const newsMax = 10_000;

const sql = `
  select mark.xid::text as mark, news.id::text as id, news.topic
  from (select pg_snapshot_xmin(pg_current_snapshot()) as xid) as mark
  left join (select id, topic from inbox_news where changed_xid >= ?::xid8 order by id desc limit ${newsMax}) as news on true`;
type Row = { mark: string; id: string | null; topic: string };

export function openNews({ em, notifications, log }: Pick<Deps, 'em' | 'notifications' | 'log'>): News {
  const followers = new Set<Follower>();
  let asking: { marked: Promise<void> } | undefined;

  function tell(topic: string | undefined): void {
    for (const follower of followers) if (topic === undefined || follower.concerns(topic)) follower.wake();
  }

  /** Polls while there are followers. */
  function startAsking(): { marked: Promise<void> } {
    let mark: string | undefined;
    let known = new Set<string | null>();
    let down = false;

    async function ask(): Promise<void> {
      const rows: Row[] = await em().execute(sql, [mark ?? '18446744073709551615']);
      const next = rows[0]?.mark as string;
      // After too many rows, the first poll, a failure or a restored database, anything may be new.
      const all = down || mark === undefined || rows.length >= newsMax || BigInt(next) < BigInt(mark);
      if (all) tell(undefined);
      else for (const { id, topic } of rows) if (id !== null && !known.has(id)) tell(topic);
      // An open transaction holds the mark back, so the same rows are returned again.
      known = new Set(rows.map(({ id }) => id));
      mark = next;
    }

    async function askOnce(): Promise<void> {
      try {
        await ask();
        down = false;
      } catch (err) {
        if (!down) log.warn({ err }, 'polling for inbox changes failed; retrying every second');
        down = true;
      }
    }

    async function keepAsking(marked: Promise<void>): Promise<void> {
      await marked;
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, askEveryMs));
        if (followers.size === 0) break;
        await askOnce();
      }
      asking = undefined;
      stopHearing();
    }

    const stopHearing = notifications.on('inbox_changed', tell);
    const marked = askOnce();
    void keepAsking(marked);
    return { marked };
  }

  return {
    async follow(follower) {
      followers.add(follower);
      asking ??= startAsking();
      await asking.marked;
      return () => followers.delete(follower);
    },
  };
}

/**
 * Deletes rows that all processes have read. A process that was disconnected for longer wakes all of its waiting
 * requests.
 */
export async function sweepNews({ em }: Pick<Deps, 'em'>): Promise<void> {
  await em().execute(`delete from inbox_news where id <= (select max(id) from inbox_news) - ${2 * newsMax}`);
}
