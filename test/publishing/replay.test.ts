/** Workflows that began under an earlier version of the code continue under this one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import protos from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { expect, expectTypeOf, test } from 'vitest';
import { type WorkflowInputs, type WorkflowName, workflowIds } from '#rules/workflow-ids.ts';
import { workflowInterceptorModules } from '#worker/bundle.ts';
import { recurring } from '#worker/schedules.ts';
import { workflowModules } from '#worker/tracing.ts';
import type * as workflows from '#workflows/index.ts';

const histories = join(import.meta.dirname, '../histories');
const told: unknown[] = [];
const sinks = { exporter: { export: { fn: (...spans: unknown[]) => void told.push(spans) } } };
const workflowsPath = join(import.meta.dirname, '../../workflows/index.ts');

Runtime.install({ logger: new DefaultLogger('ERROR') });

const recorded = readdirSync(histories).map((name) => ({
  workflowId: name,
  history: protos.temporal.api.history.v1.History.decode(readFileSync(join(histories, name))),
}));

test('a workflow accepts the input of its registry entry', () => {
  type Followers = { [Name in WorkflowName]: (input: WorkflowInputs[Name]) => Promise<object> };
  expectTypeOf<typeof workflows>().toExtend<Followers>();
});

test('every workflow that follows a row has a recorded history', () => {
  const { schedule: _schedule, ...followers } = workflowIds;
  const kept = recorded.map(
    ({ history }) => history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name,
  );
  for (const name of Object.keys(followers)) expect(kept).toContain(name);
});

test('docs/workflows.md describes every workflow that follows a row, and lists every schedule', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/workflows.md'), 'utf8').replace(/ +\|/g, ' |');
  const headings = page.split('\n').filter((line) => line.startsWith('## '));
  const told = headings.flatMap((line) => line.slice(3).split(', '));
  const { schedule, ...followers } = workflowIds;
  expect(told).toEqual(expect.arrayContaining(Object.keys(followers)));
  for (const { name, type, every } of recurring)
    expect(page).toContain(
      `| \`${schedule(name)}\` | \`${type}\` | ${every.replace(/inutes?|our/, '').replace(' m', ' min')} |`,
    );
});

/** Traces may be switched on and off under workflows that run. */
test.each([
  ['tracing is off', workflowInterceptorModules],
  ['tracing is on', [...workflowModules, ...workflowInterceptorModules]],
])('every recorded history replays on current workflows if %s', { timeout: 60_000 }, async (_where, modules) => {
  const options = { workflowsPath, interceptors: { workflowModules: modules }, sinks };
  const replayed: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(options, recorded)) {
    expect({ workflowId, error }).toEqual({ workflowId, error: undefined });
    replayed.push(workflowId);
  }
  expect(replayed.length).toBe(recorded.length);
  expect(replayed.length).toBeGreaterThanOrEqual(4);
  expect(told).toEqual([]);
});
