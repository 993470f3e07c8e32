/**
 * Whom news concerns, for all callers of this process who wait: heard by NOTIFY, and asked for each second in one question however
 * many wait. Found by transaction id as edges find changed sites, so that none is missed: see decision 004.
 */
import type { Deps } from '#runtime/deps.ts';

export type Follower = {
  /** Whether news of this topic, a site's or an account's id, may be for him. */
  concerns(topic: string): boolean;
  /** Called when there may be something new for him; more often than there is. */
  wake(): void;
};

export type News = {
  /** Resolves when nothing that is committed from then on is missed, with what ends it. */
  follow(follower: Follower): Promise<() => void>;
};

const askEveryMs = 1_000;
const newsMax = 10_000;

const sql = `
  select mark.xid::text as mark, news.id::text as id, news.topic
  from (select pg_snapshot_xmin(pg_current_snapshot()) as xid) as mark
  left join (select id, topic from inbox_news where changed_xid >= ?::xid8 order by id desc limit ${newsMax}) as news on true`;
type Row = { mark: string; id: string | null; topic: string };

export function openNews({ em, changes, log }: Pick<Deps, 'em' | 'changes' | 'log'>): News {
  const followers = new Set<Follower>();
  let asking: { marked: Promise<void> } | undefined;

  function tell(topic: string | undefined): void {
    for (const follower of followers) if (topic === undefined || follower.concerns(topic)) follower.wake();
  }

  /** Asks for as long as somebody follows. */
  function startAsking(): { marked: Promise<void> } {
    let mark: string | undefined;
    let known = new Set<string | null>();
    let down = false;

    async function ask(): Promise<void> {
      const rows: Row[] = await em().execute(sql, [mark ?? '18446744073709551615']);
      const next = rows[0]?.mark as string;
      // Too much, a first answer, one after a loss, or a database put back from a copy: anything may be new.
      const all = down || mark === undefined || rows.length >= newsMax || BigInt(next) < BigInt(mark);
      if (all) tell(undefined);
      else for (const { id, topic } of rows) if (id !== null && !known.has(id)) tell(topic);
      // A transaction that stays open holds the mark back, and the same rows come again.
      known = new Set(rows.map(({ id }) => id));
      mark = next;
    }

    async function askOnce(): Promise<void> {
      try {
        await ask();
        down = false;
      } catch (err) {
        if (!down) log.warn({ err }, 'news for waiting calls could not be asked for; it is tried each second');
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

    const stopHearing = changes.on('inbox_changed', tell);
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

/** Deletes news that every process has asked for. One that was away for longer wakes all who wait in it. */
export async function sweepNews({ em }: Pick<Deps, 'em'>): Promise<void> {
  await em().execute(`delete from inbox_news where id <= (select max(id) from inbox_news) - ${2 * newsMax}`);
}
