/** Samples during the hour: memory and file handles of each process; and the leftovers afterwards. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { childrenOf } from '#providers/process-times.ts';
import type { Stack } from '#tools/local/stack.ts';

export const processes = ['api', 'edge', 'worker', 'postgres', 'temporal'] as const;
export type ProcessName = (typeof processes)[number];
export type Sample = { minute: number; of: Record<ProcessName, { bytes: number; handles: number }> };

/** Younger children are work in progress: a git process, a connection. */
const lastingMs = 60_000;

/**
 * Sum of the process and its long-lived children. Memory is the proportional set size, which counts shared pages once.
 */
async function ofTree(pid: number, now: number): Promise<{ bytes: number; handles: number }> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const sum = {
    bytes: Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) * 1024,
    handles: (await readdir(`/proc/${pid}/fd`).catch(() => [])).length,
  };
  for (const child of await childrenOf(pid).catch(() => [])) {
    if (now - (await startedAt(child)) < lastingMs) continue;
    const more = await ofTree(child, now);
    sum.bytes += more.bytes;
    sum.handles += more.handles;
  }
  return sum;
}

/** Start time in milliseconds of uptime, from field 22 of proc(5)'s stat, which is in hundredths of a second. */
async function startedAt(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? Number.NaN) * 10;
}

export async function sample(stack: Stack, minute: number): Promise<Sample> {
  const now = Number((await readFile('/proc/uptime', 'utf8')).split(' ')[0]) * 1000;
  const each = processes.map(async (name) => [name, await ofTree(stack.pid(name) ?? 0, now)] as const);
  return { minute, of: Object.fromEntries(await Promise.all(each)) as Sample['of'] };
}

/** Containers of this installation, by the label that its worker sets (worker/worker.ts). */
export async function containers({ env }: Stack): Promise<string[]> {
  const owner = createHash('sha256').update(`sandbox owner ${env.FRONTAGE_SECRET}`).digest('hex').slice(0, 16);
  const ask = ['ps', '-a', '--filter', `label=frontage.owner=${owner}`, '--format', '{{.Names}}'];
  const { stdout } = await promisify(execFile)('docker', ask);
  return stdout.split('\n').filter(Boolean);
}

/** Running workflows by type, and those with more attempts of a task or activity than a temporary fault explains. */
export async function workflows({ temporalAddress: address, env }: Stack) {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace: env.TEMPORAL_NAMESPACE ?? 'default' });
  const running: Record<string, number> = {};
  const stuck: string[] = [];
  try {
    for await (const { workflowId, runId, type } of client.workflow.list({ query: 'ExecutionStatus = "Running"' })) {
      running[type] = (running[type] ?? 0) + 1;
      const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
      const tries = [raw.pendingWorkflowTask?.attempt ?? 0, ...(raw.pendingActivities ?? []).map((one) => one.attempt)];
      if (tries.some((attempt) => (attempt ?? 0) > 4)) stuck.push(workflowId);
    }
  } finally {
    await connection.close();
  }
  return { running, stuck };
}

/** Counts of rows that are still unfinished. */
export async function unfinished({ databaseUrl }: Stack): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, number>>(`select
      (select count(*)::int from outbox where sent_at is null) as "messages to the workflow engine",
      (select count(*)::int from deployment where status in ('queued', 'building', 'storing')) as publishes,
      (select count(*)::int from mail where status = 'queued') as mails`);
    return rows[0] ?? {};
  } finally {
    await client.end();
  }
}
