/**
 * Random journeys of payers and owners, on both rails, while the provider turns calls away and loses answers, its messages are lost, doubled
 * and late, and steps are broken off around their effect. In the end the ledger is held against what the provider has.
 * Prints what happened.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPayingFixture, type PayingFixture } from '#test/payments/fixture.ts';
import { travelling } from '#test/payments/time-travel.ts';
import { startWorker } from '#test/stack/worker.ts';
import { numbersFrom } from '#tools/scripts/chance.ts';
import { seedOr, sized } from './size.ts';

const journeys = sized({ short: 24, long: 300 });
const seed = seedOr(20261121);
const random = numbersFrom(seed);
let breaking = 0.15;

let fixture: PayingFixture;
let worker: Awaited<ReturnType<typeof startWorker>>;
beforeAll(async () => {
  fixture = await createPayingFixture({}, { random });
  const execute = async (input: never, next: (input: never) => Promise<unknown>) => {
    if (random() < breaking) throw new Error('broken off before');
    const result = await next(input);
    if (random() < breaking) throw new Error('broken off after');
    return result;
  };
  worker = await startWorker(fixture.deps, { interceptors: { activity: [() => ({ inbound: { execute } as never })] } });
});
afterAll(async () => {
  await worker?.close();
  await fixture?.close();
});

test(`after ${journeys} random histories each payment is complete or refunded, and bookings agree`, {
  timeout: 1_800_000,
}, async () => {
  const { goAll, settle, requireTrueLedger, chance } = travelling(fixture, { random, journeys });
  const share = breaking;
  const travel = async () => {
    breaking = share;
    await goAll(12, () => {
      // Now and then all holds run out, with their pages open.
      if (chance(0.3)) fixture.skip(16 * 60_000);
    });
    breaking = 0;
    await settle();
    return await requireTrueLedger();
  };
  let came = await travel();
  // In one of a hundred times none of the first is given back.
  const leadsToBoth = () => came.states.paid !== undefined && came.states.refunded !== undefined;
  for (let again = 0; again < 3 && !leadsToBoth(); again++) came = await travel();
  expect(leadsToBoth()).toBe(true);
  console.log(JSON.stringify({ seed, ...came }));
});
