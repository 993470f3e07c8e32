/**
 * Simulates the queue of builds of a large installation with the product's own rule for turns (`rules/builds/slots.ts`). Arrivals are
 * random; the duration of a build is that of `npm run bench -- workers`, where two at once share the two cores of a machine.
 */
import { nextBuilds } from '#rules/builds/slots.ts';
import { numbersFrom } from '#tools/scripts/chance.ts';
import { percentile } from './measure.ts';

const slotsOfMachine = 2;
/** Publishes a minute of one machine with two cores and two builds at once, in RESULTS.md. */
const perMachine = 22.3;
const buildMs = (slotsOfMachine * 60_000) / perMachine;
/** Most builds take less than the mean, and a few far longer. */
const spread = 0.8;
const buildMsMax = 10 * 60_000;
const accounts = 20_000;
const floodSize = 1_000;

type Build = { id: string; account: string; at: number };

/** One row for each load and number of machines: how long a publish waits for its turn, alone and beside an account that floods. */
export function benchScale(): string {
  const minutes = process.argv.includes('--quick') ? 2 : 10;
  const rows = [10, 100, 1_000].flatMap((perMinute) =>
    [...new Set([0.7, 0.85, 0.95].map((load) => Math.ceil(perMinute / perMachine / load)))].map((machines) => {
      const [alone, flooded] = [false, true].map((hasFlood) => simulate({ perMinute, machines, minutes, hasFlood }));
      const cells = [perMinute, machines, `${Math.round((perMinute / perMachine / machines) * 100)} %`];
      return `| ${[...cells, ...quantiles(alone ?? []), ...quantiles(flooded ?? []).slice(1)].join(' | ')} |`;
    }),
  );
  return [
    `${minutes} simulated minutes each, ${accounts.toLocaleString('en')} accounts. Waiting for a turn, without the build itself.`,
    `“Flood”: one account publishes ${floodSize} sites at once; the waits are those of all others.`,
    '',
    '| publishes a minute | machines for builds | busy | p50 | p95 | p99 | p95, flood | p99, flood |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

type Simulated = { perMinute: number; machines: number; minutes: number; hasFlood: boolean };

/** Waits of all accounts but the flooding one, in milliseconds. */
function simulate({ perMinute, machines, minutes, hasFlood }: Simulated): number[] {
  const random = numbersFrom(perMinute * 1_000 + machines);
  const queue = createQueue(machines * slotsOfMachine, () => durationOf(random));
  let nextAt = 0;
  if (hasFlood) for (let n = 0; n < floodSize; n++) queue.arrive('flood', 0);
  for (let now = 0; now < minutes * 60_000; ) {
    const endsAt = queue.endsAt();
    now = Math.min(endsAt, nextAt);
    if (now === endsAt) queue.endOne();
    else {
      queue.arrive(`account ${Math.floor(random() * accounts)}`, now);
      nextAt += (-Math.log(1 - random()) * 60_000) / perMinute;
    }
    queue.startNext(now);
  }
  return queue.waits;
}

function createQueue(slots: number, duration: () => number) {
  const running = new Map<string, number>();
  const lastStart = new Map<string, number>();
  const ends: { at: number; account: string }[] = [];
  const waits: number[] = [];
  let waiting: Build[] = [];
  let number = 0;

  return {
    waits,
    arrive: (account: string, at: number) => void waiting.push({ id: String(++number), account, at }),
    endsAt: () => ends[0]?.at ?? Number.POSITIVE_INFINITY,
    endOne(): void {
      const account = ends.shift()?.account ?? '';
      const left = (running.get(account) ?? 1) - 1;
      if (left > 0) running.set(account, left);
      else running.delete(account);
    },
    startNext(now: number): void {
      const started = new Set(nextBuilds({ slots, running, waiting, lastStart }));
      if (started.size === 0) return;
      for (const { account, at } of waiting.filter(({ id }) => started.has(id))) {
        if (account !== 'flood') waits.push(now - at);
        running.set(account, (running.get(account) ?? 0) + 1);
        lastStart.set(account, now);
        insertByTime(ends, { at: now + duration(), account });
      }
      waiting = waiting.filter(({ id }) => !started.has(id));
    },
  };
}

/** Lognormal, with the measured mean. */
function durationOf(random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.min(buildMsMax, buildMs * Math.exp(spread * normal - spread ** 2 / 2));
}

function insertByTime(ends: { at: number; account: string }[], end: { at: number; account: string }): void {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle]?.at ?? 0) <= end.at) low = middle + 1;
    else high = middle;
  }
  ends.splice(low, 0, end);
}

function quantiles(waits: number[]): string[] {
  return [0.5, 0.95, 0.99].map((part) => `${(percentile(waits, part) / 1000).toFixed(1)} s`);
}
