/**
 * The same journeys through an API process and a worker that are killed by SIGKILL at the edges of calls to the provider: as a call has come there
 * and nothing is done yet, and as it is done and not answered. In the end both are dead, and the ledger check alone finishes what they had in hand.
 * Prints what happened.
 */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPayingFixture, type PayingFixture, payingEnv } from '#test/payments/fixture.ts';
import { travelling } from '#test/payments/time-travel.ts';
import { openProcesses, type Processes } from '#test/stack/processes.ts';
import { createNamespace } from '#test/stack/worker.ts';
import { freePort } from '#tools/local/ports.ts';
import { numbersFrom } from '#tools/scripts/chance.ts';
import { seedOr, sized } from './size.ts';

const journeys = sized({ short: 6, long: 300 });
const killsMax = Math.max(2, journeys / 10);
const seed = seedOr(20261121);
const draw = numbersFrom(seed);

let fixture: PayingFixture;
let processes: Processes;
let port: number;
const killed = { api: 0, worker: 0 };
const running: { api?: ChildProcess; worker?: ChildProcess } = {};
let restarting: Promise<void> | undefined;
let isStormy = false;

const startOf = {
  api: () => processes.startApi(port),
  worker: () => processes.startWorker(),
};

/** Kills one of the two and starts it anew, if both are up. */
function kill(which: 'api' | 'worker'): void {
  const process = running[which];
  if (restarting || !process) return;
  killed[which] += 1;
  delete running[which];
  restarting = processes.killed(process).then(async () => {
    running[which] = await startOf[which]();
    restarting = undefined;
  });
}

/** The provider draws a number as a call comes, and another before it answers. */
function random(): number {
  const drawn = draw();
  const left = isStormy && killed.api + killed.worker < killsMax;
  if (left && draw() < 0.1) kill(killed.api > killed.worker ? 'worker' : 'api');
  return drawn;
}

beforeAll(async () => {
  port = await freePort();
  const namespace = await createNamespace();
  fixture = await createPayingFixture(
    { TEMPORAL_NAMESPACE: namespace, FRONTAGE_RATE_SCALE: '1000000' },
    { random, at: `http://127.0.0.1:${port}` },
  );
  const standInPort = Number(new URL(fixture.stub.url).port);
  processes = openProcesses(fixture, { FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9', ...payingEnv(standInPort) });
  [running.api, running.worker] = await Promise.all([startOf.api(), startOf.worker()]);
}, 60_000);
afterAll(async () => {
  await restarting;
  processes?.close();
  await fixture?.close();
});

test(`after ${journeys} histories with killed processes each charge is paid or refunded`, {
  timeout: 1_800_000,
}, async () => {
  const { goAll, settle, requireTrueLedger } = travelling(fixture, { random, journeys });
  isStormy = true;
  await goAll(6, () => {});
  isStormy = false;
  await restarting;
  expect(killed.api + killed.worker).toBeGreaterThan(0);
  // Those die too, with all that they have in hand, and nobody follows it any more.
  await Promise.all(Object.values(running).map((one) => processes.killed(one)));
  await settle({ alone: true });
  console.log(JSON.stringify({ seed, killed, ...(await requireTrueLedger()) }));
});
