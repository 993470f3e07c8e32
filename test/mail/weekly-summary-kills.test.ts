/** Workers that die while they send the weekly summary. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openProcesses } from '#test/stack/processes.ts';
import { createMailFixture, type MailFixture } from './fixture.ts';
import { aheadBy } from './later-clock.ts';
import { mailOwners, stalledAtQueue } from './owner-mails.ts';
import { summaries } from './summaries.ts';

let fixture: MailFixture;
beforeAll(async () => {
  fixture = await createMailFixture();
}, 60_000);
afterAll(() => fixture?.close());

/** An owner whose summary is due. */
async function due() {
  const { summarised, skipToMonday, visitedOnDay } = summaries(fixture);
  const made = await summarised();
  const { days } = skipToMonday(7);
  await visitedOnDay(made.sites[0]?.id ?? '', days[0] as Date, 9);
  return made;
}

/** Workers in processes of their own, at the fixture's time. The fixture's own worker ends. */
async function ownWorkers() {
  await fixture.stopWorker();
  const env = { FRONTAGE_SMTP_URL: fixture.config.mail?.url ?? '' };
  return openProcesses(fixture, { ...env, ...aheadBy(fixture.clock.now().getTime() - Date.now()) });
}

test('a worker killed while it queues the summary sends none, and the next one', async () => {
  const { queued, received } = await due();
  const processes = await ownWorkers();
  try {
    const worker = await processes.startWorker();
    await stalledAtQueue(fixture, async (stalled) => {
      await mailOwners(fixture, { isAwaited: false });
      await stalled();
      await processes.killed(worker);
    });
    expect(await queued()).toBe(0);
    await processes.startWorker();
    await mailOwners(fixture);
    await received();
    expect(await queued()).toBe(1);
  } finally {
    processes.close();
  }
}, 120_000);
