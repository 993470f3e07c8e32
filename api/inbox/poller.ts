/**
 * Wakes the waiting requests of this process. NOTIFY is only an optimisation: one query a second for all of them finds
 * the changes. It finds rows by transaction id, as edges find changed sites, so that none is missed: see decision 004.
 */
import type { Deps } from '#runtime/deps.ts';

export type Follower = {
  /** Whether this topic, the id of a site or an account, may concern the follower. */
  concerns(topic: string): boolean;
  /** Called when there may be a new item for the follower; false alarms occur. */
  wake(): void;
};

export type InboxPoller = {
  /** Resolves once no later commit can be missed. Returns a function that stops following. */
  follow(follower: Follower): Promise<() => void>;
};

const pollIntervalMs = 1_000;
const rowsMax = 10_000;

const sql = `
  select mark.xid::text as mark, news.id::text as id, news.topic
  from (select pg_snapshot_xmin(pg_current_snapshot()) as xid) as mark
  left join (select id, topic from inbox_news where changed_xid >= ?::xid8 order by id desc limit ${rowsMax}) as news on true`;
type Row = { mark: string; id: string | null; topic: string };

export function openInboxPoller({ em, notifications, log }: Pick<Deps, 'em' | 'notifications' | 'log'>): InboxPoller {
  const followers = new Set<Follower>();
  let polling: { marked: Promise<void> } | undefined;

  function wake(topic: string | undefined): void {
    for (const follower of followers) if (topic === undefined || follower.concerns(topic)) follower.wake();
  }

  /** Polls while there are followers. */
  function startPolling(): { marked: Promise<void> } {
    let mark: string | undefined;
    let known = new Set<string | null>();
    let down = false;

    async function poll(): Promise<void> {
      const rows: Row[] = await em().execute(sql, [mark ?? '18446744073709551615']);
      const next = rows[0]?.mark as string;
      // After too many rows, the first poll, a failure or a restored database, anything may be new.
      const all = down || mark === undefined || rows.length >= rowsMax || BigInt(next) < BigInt(mark);
      if (all) wake(undefined);
      else for (const { id, topic } of rows) if (id !== null && !known.has(id)) wake(topic);
      // An open transaction holds the mark back, so the same rows are returned again.
      known = new Set(rows.map(({ id }) => id));
      mark = next;
    }

    async function pollOnce(): Promise<void> {
      try {
        await poll();
        down = false;
      } catch (err) {
        if (!down) log.warn({ err }, 'polling for inbox changes failed; retrying every second');
        down = true;
      }
    }

    async function keepPolling(marked: Promise<void>): Promise<void> {
      await marked;
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
        if (followers.size === 0) break;
        await pollOnce();
      }
      polling = undefined;
      stopListening();
    }

    const stopListening = notifications.on('inbox_changed', wake);
    const marked = pollOnce();
    void keepPolling(marked);
    return { marked };
  }

  return {
    async follow(follower) {
      followers.add(follower);
      polling ??= startPolling();
      await polling.marked;
      return () => followers.delete(follower);
    },
  };
}

/**
 * Deletes rows that all processes have read. A process that was disconnected for longer wakes all of its waiting
 * requests.
 */
export async function sweepInboxNews({ em }: Pick<Deps, 'em'>): Promise<void> {
  await em().execute(`delete from inbox_news where id <= (select max(id) from inbox_news) - ${2 * rowsMax}`);
}
