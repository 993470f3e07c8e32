/**
 * An hour of mixed load on the whole system (`FRONTAGE_MINUTES` for another duration): whether memory or file handles
 * of a process grow after the first ten minutes, and whether workflows, rows or containers are left over.
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '#tools/bench/measure.ts';
import { type Fixture, openFixture } from '#tools/bench/publish-fixture.ts';
import { type Done, keepBusy, openSites } from './load.ts';
import { containers, processes, type Sample, sample, unfinished, workflows } from './samples.ts';

const minutes = Number(process.env.FRONTAGE_MINUTES ?? 60);
/** The warm-up, in which caches and pools fill: ten minutes, or a sixth of a shorter run. */
const settled = Math.min(10, Math.ceil(minutes / 6));
const mib = (bytes: number) => bytes / 1024 ** 2;

/** Returns the section of the results. */
export async function benchHour(): Promise<string> {
  const fixture = await openFixture({ FRONTAGE_CHALLENGE_ROUNDS: '20000' });
  let left: string[] | undefined;
  try {
    const sites = await openSites(fixture, 3);
    const end = Date.now() + minutes * 60_000;
    const { done, over } = keepBusy(fixture, sites, end);
    const samples: Sample[] = [];
    const loads: number[] = [];
    for (let minute = 1; minute <= minutes; minute++) {
      await sleep(end - (minutes - minute) * 60_000 - Date.now());
      samples.push(await sample(fixture.stack, minute));
      loads.push(loadavg()[0] as number);
      console.log(`… minute ${minute}: ${line(samples.at(-1) as Sample)}; load average ${loads.at(-1)?.toFixed(1)}`);
    }
    await over;
    const rest = await untilQuiet(fixture);
    const { running, stuck } = await workflows(fixture.stack);
    const whileItRan = (await containers(fixture.stack)).filter((name) => !name.includes('.warm.'));
    await fixture.stack.stop();
    left = await containers(fixture.stack);
    return [
      `${minutes} minutes; load average ${median(loads).toFixed(1)} (median), ${Math.max(...loads).toFixed(1)} at most.`,
      reportDone(done),
      reportGrowth(samples),
      `At most two minutes after the last call, unfinished: ${Object.entries(rest)
        .map(([what, count]) => `${count} ${what}`)
        .join(', ')}; build containers: ${whileItRan.length}; containers after shutdown: ${left.length}.`,
      `Workflows still running: ${list(running)}. Stuck: ${stuck.length > 0 ? stuck.join(', ') : 'none'}.`,
    ].join('\n\n');
  } finally {
    await fixture.stop();
  }
}

const line = ({ of }: Sample) =>
  processes.map((name) => `${name} ${mib(of[name].bytes).toFixed(0)} MiB ${of[name].handles}`).join(', ');
const list = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([type, count]) => `${count} ${type}`)
    .join(', ') || 'none';

/** Waits up to two minutes for unfinished builds and mails. */
async function untilQuiet(fixture: Fixture): Promise<Record<string, number>> {
  for (const end = Date.now() + 120_000; ; await sleep(1_000)) {
    const rest = await unfinished(fixture.stack);
    if (Object.values(rest).every((count) => count === 0) || Date.now() > end) return rest;
  }
}

function reportDone(done: Done): string {
  const rows = Object.entries(done).map(([what, of]) => `| ${what} | ${of.done} | ${of.failed.length} |`);
  const faults = Object.values(done).flatMap(({ failed }) => failed);
  const shown = [...new Set(faults.map((one) => one.slice(0, 300)))].slice(0, 5).map((one) => `- ${one}`);
  return [['| | done | failed |', '| --- | --- | --- |', ...rows].join('\n'), ...shown].join('\n\n');
}

/** Medians of five samples each, so that a single build or garbage collection does not matter. */
function reportGrowth(samples: Sample[]): string {
  const after = samples.filter(({ minute }) => minute > settled);
  const [first, last] = [after.slice(0, 5), after.slice(-5)];
  const rows = processes.map((name) => {
    const bytes = (some: Sample[]) => mib(median(some.map(({ of }) => of[name].bytes)));
    const handles = (some: Sample[]) => median(some.map(({ of }) => of[name].handles));
    const grown = (bytes(last) / bytes(first) - 1) * 100;
    const sizes = `${bytes(first).toFixed(0)} MiB | ${bytes(last).toFixed(0)} MiB | ${grown.toFixed(1)} %`;
    return `| ${name} | ${sizes} | ${handles(first)} | ${handles(last)} |`;
  });
  return [
    `Memory and file handles of each process and its long-lived children; medians over five minutes, after the first ${settled} minutes and at the end.`,
    '',
    '| | memory at first | at the end | growth | handles at first | at the end |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}
