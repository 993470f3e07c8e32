/**
 * The edges of a publish's steps, and a way to stand on one: a trigger in the database lets the move wait for an advisory lock
 * that the campaign holds. So a process can be killed with its work done and not committed, or in the moment after the commit,
 * and the service itself has no code for it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** The moves that can be held, with the trigger that holds each and the question whether it is committed for a deployment. */
const moves = {
  accept: {
    trigger: 'after insert on deployment deferrable initially deferred for each row',
    done: 'select 1 from deployment where id = $1',
  },
  send: {
    trigger: `after update of sent_at on outbox deferrable initially deferred for each row when (new.kind = 'start')`,
    done: `select 1 from outbox where workflow_id in ('publish:' || $1, 'preview-publish:' || $1) and kind = 'start' and sent_at is not null`,
  },
  claim: {
    trigger: `after update of status on deployment deferrable initially deferred for each row when (new.status = 'building')`,
    done: `select 1 from deployment where id = $1 and status <> 'queued'`,
  },
  log: {
    trigger: 'after insert on build_log deferrable initially deferred for each row',
    done: 'select 1 from build_log where deployment_id = $1',
  },
  store: {
    trigger: `after update of status on deployment deferrable initially deferred for each row when (new.status = 'storing')`,
    done: `select 1 from deployment where id = $1 and status not in ('queued', 'building')`,
  },
  manifest: {
    trigger: `after update of manifest_sha256 on deployment deferrable initially deferred for each row`,
    done: 'select 1 from deployment where id = $1 and manifest_sha256 is not null',
  },
  live: {
    trigger: 'after update of live_deployment_id on site deferrable initially deferred for each row',
    done: 'select 1 from site where live_deployment_id = $1',
  },
  remove: {
    trigger:
      'after update of removed_at on preview deferrable initially deferred for each row when (new.removed_at is not null)',
    done: 'select 1 from preview where id = $1 and removed_at is not null',
  },
} as const;
export type Move = keyof typeof moves;

export type Edge = {
  name: string;
  act: 'publish' | 'restore' | 'push';
  /** Where the process is killed; a push has no row to hold, so its moment is drawn. */
  at?: { move: Move; side: 'before' | 'after' };
};

const sides = (['accept', 'send', 'claim', 'log', 'store', 'manifest', 'live'] as const).flatMap((move) => [
  { name: `before the commit of ${move}`, act: 'publish' as const, at: { move, side: 'before' as const } },
  { name: `after the commit of ${move}`, act: 'publish' as const, at: { move, side: 'after' as const } },
]);
export const edges: Edge[] = [
  ...sides,
  { name: 'before the commit of a restore', act: 'restore', at: { move: 'live', side: 'before' } },
  { name: 'after the commit of a restore', act: 'restore', at: { move: 'live', side: 'after' } },
  { name: 'while a push is under way', act: 'push' },
];

/** Those of a slot: it is published, or its time runs out. */
export type SlotEdge = { name: string; act: 'publish' | 'expire'; at: { move: Move; side: 'before' | 'after' } };
export const slotEdges: SlotEdge[] = (['live', 'accept', 'send', 'remove'] as const).flatMap((move) =>
  (['before', 'after'] as const).map((side) => ({
    name: `${side} the commit of ${move === 'remove' ? 'a removal' : `${move} of a slot`}`,
    act: move === 'remove' ? ('expire' as const) : ('publish' as const),
    at: { move, side },
  })),
);

const lockClass = 710_001;
const timeoutMs = 300_000;
const numberOf = (move: Move) => Object.keys(moves).indexOf(move);

/** Puts the triggers in place; nothing waits until a move is held. */
export async function armEdges(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query(`create function wait_at_edge() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(${lockClass}, tg_argv[0]::int); return null; end $$`);
    for (const [move, { trigger }] of Object.entries(moves)) {
      const at = numberOf(move as Move);
      await client.query(`create constraint trigger edge_${move} ${trigger} execute function wait_at_edge(${at})`);
    }
  });
}

export type Hold = {
  /** Resolves once somebody stands at the edge. */
  reached(): Promise<void>;
  /** Cuts off those who wait, as is the end of a process that died before it could commit. */
  cut(): Promise<void>;
  /** Lets them go on, if they are still there. */
  release(): Promise<void>;
};

/** From now on the move waits before its commit. */
export async function hold(databaseUrl: string, move: Move): Promise<Hold> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {}); // The database may be what is killed.
  await client.connect();
  await client.query('select pg_advisory_lock($1, $2)', [lockClass, numberOf(move)]);
  const at = [lockClass, numberOf(move)];
  const waiting = `from pg_locks where locktype = 'advisory' and classid = $1 and objid = $2 and not granted`;
  return {
    reached: () => until(client, `select 1 ${waiting}`, at),
    cut: async () => void (await client.query(`select pg_terminate_backend(pid) ${waiting}`, at)),
    release: () => client.end().catch(() => {}),
  };
}

/** Resolves in the moment after the move of the deployment is committed. */
export async function committed(databaseUrl: string, move: Move, deploymentId: string): Promise<void> {
  await withClient(databaseUrl, (client) => until(client, moves[move].done, [deploymentId]));
}

async function until(client: pg.Client, question: string, values: unknown[]): Promise<void> {
  const end = performance.now() + timeoutMs;
  while ((await client.query(question, values)).rows.length === 0) {
    if (performance.now() > end) throw new Error(`never reached: ${question} ${values}`);
    await delay(2);
  }
}

export async function withClient<T>(databaseUrl: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end().catch(() => {});
  }
}
