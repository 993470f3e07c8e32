/** Does all tasks on one surface, and looks from outside after each. */
import { operations } from '#rules/calls/operations.ts';
import type { Cost, Surface } from './surface.ts';
import { isVisit, type Seen, type Step, type Task, type Visit } from './task.ts';

export type TaskCost = Cost & { name: string; before?: number };

/** What happens beside the agent's calls, and what is seen afterwards. */
export type World = {
  visit(visit: Visit['visitor'], known: Map<string, unknown>): Promise<void>;
  /** Throws if it is not seen. */
  look(seen: Seen, known: Map<string, unknown>): Promise<void>;
};

/** The costs of the start and of each task. Throws at the end if a task was not done, with the reason of each. */
export async function runTasks(
  surface: Surface,
  tasks: readonly Task[],
  world: World,
  known: Map<string, unknown>,
): Promise<TaskCost[]> {
  const costs: TaskCost[] = [{ name: 'Before the first task', ...(await surface.start()) }];
  const failed: string[] = [];
  for (const { name, steps, seen, before } of tasks) {
    const cost = { calls: 0, bytes: 0 };
    try {
      for (const part of partsOf(steps)) {
        if (!Array.isArray(part)) {
          await world.visit(part.visitor, known);
          continue;
        }
        const { calls, bytes } = await surface.run(name, part, known);
        cost.calls += calls;
        cost.bytes += bytes;
      }
      for (const one of seen) await world.look(one, known);
    } catch (error) {
      failed.push(`“${name}”: ${error instanceof Error ? error.message : error}`);
    }
    costs.push({ name, ...cost, ...(before === undefined ? {} : { before }) });
  }
  if (failed.length > 0)
    throw new Error(`${surface.name}: ${failed.length} tasks were not done.\n${failed.join('\n')}`);
  return costs;
}

/** Steps between which the agent does not look: up to one that reads or is refused, and up to somebody else's act. */
export function partsOf(steps: readonly (Step | Visit)[]): (Step[] | Visit)[] {
  const parts: (Step[] | Visit)[] = [];
  let open: Step[] | undefined;
  for (const step of steps) {
    if (isVisit(step)) {
      parts.push(step);
      open = undefined;
      continue;
    }
    if (!open) {
      open = [];
      parts.push(open);
    }
    open.push(step);
    if (step.refused || operations[step.operation].startsWith('GET ')) open = undefined;
  }
  return parts;
}

export const sum = (costs: readonly Cost[]): Cost => ({
  calls: costs.reduce((all, { calls }) => all + calls, 0),
  bytes: costs.reduce((all, { bytes }) => all + bytes, 0),
});

/** The costs as a table of Markdown. */
export function tableOf(surface: string, costs: readonly TaskCost[]): string {
  const rows = [...costs, { name: 'All', ...sum(costs) }].map(
    ({ name, calls, bytes }) => `| ${name} | ${calls} | ${bytes} |`,
  );
  return [`| ${surface} | calls | bytes |`, '| --- | --- | --- |', ...rows].join('\n');
}
