/**
 * A mail server that is away for an hour, an hour that is skipped.
 * @module-tag temporal-test-server
 */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Mail } from '#db/mail/mail.ts';
import { queueMail, withText } from '#db/mail/queue.ts';
import { systemClock } from '#runtime/clock.ts';
import { createFixture, type Fixture } from '#test/api/fixture.ts';
import { sized } from '#test/campaigns/size.ts';
import { startTimeSkippingServer } from '#test/stack/time-skipping.ts';
import { until } from '#test/stack/until.ts';
import { startWorker } from '#test/stack/worker.ts';
import { startMailCatcher } from '#tools/local/mail/catcher.ts';
import { freePort } from '#tools/local/ports.ts';

const count = sized({ one: 10, short: 25, long: 500 });

/** A worker's first workflows begin late on a busy machine. */
const begunMs = 120_000;

let temporal: TestWorkflowEnvironment;
let lacking: string | undefined;
let fixture: Fixture;
let worker: Awaited<ReturnType<typeof startWorker>>;
let smtpPort: number;

beforeAll(async () => {
  try {
    temporal = await startTimeSkippingServer();
  } catch (error) {
    lacking = `temporal-test-server: ${(error as Error).message.split('\n')[0]}`;
    return;
  }
  smtpPort = await freePort();
  fixture = await createFixture({
    FRONTAGE_SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    TEMPORAL_ADDRESS: temporal.address,
  });
  worker = await startWorker(fixture.deps);
}, 240_000);
beforeEach((context) => {
  if (lacking) context.skip(lacking);
});
afterAll(async () => {
  await worker?.close();
  await fixture?.close();
  await temporal?.teardown();
});

test('mails delayed by an hour’s outage arrive once', async () => {
  const addresses = Array.from({ length: count }, (_, at) => `guest-${at}@example.com`);
  const em = fixture.deps.em();
  const data = { hostname: 'x.sites.localhost', link: `${fixture.config.baseUrl}/invitations/x`, days: 14 };
  const mails = addresses.map((to) => queueMail(em, fixture.deps, { kind: 'invitation', to, data }));
  await em.flush();
  const waiting = (line: { msg: string; mailId?: string }) => line.msg === 'an e-mail could not be sent yet';
  // Each has been tried and has failed before the hour begins.
  await until(
    () => new Set(fixture.logged.filter(waiting).map(({ mailId }) => mailId)),
    ({ size }) => size === count,
    begunMs,
  );
  const downAt = await temporal.currentTimeMs();
  await temporal.sleep('1 hour');
  expect(await temporal.currentTimeMs()).toBeGreaterThanOrEqual(downAt + 3_600_000);
  expect(await fixture.deps.em().count(Mail, { status: 'queued' })).toBe(count);
  const tries = fixture.logged.filter(waiting).length;
  // On a curve, and not every second.
  expect(tries).toBeLessThan(20 * count);

  const ports = { smtp: smtpPort, web: await freePort() };
  const catcher = await startMailCatcher({ ports, clock: systemClock });
  try {
    // One by one: each wait lets the time run, and two that let it run at once are one too many for the engine.
    for (const { id } of mails) await temporal.client.workflow.getHandle(`mail:${id}`).result();
    const arrived = catcher.messages().map(({ to }) => to[0]);
    expect(arrived.toSorted()).toEqual(addresses.toSorted());
    expect(await fixture.deps.em().count(Mail, { status: 'sent' })).toBe(count);
    const ends = await Promise.all(
      mails.map(({ id }) => fixture.deps.temporal.workflow.getHandle(`mail:${id}`).describe()),
    );
    const last = Math.max(...ends.map(({ closeTime }) => closeTime?.getTime() ?? Number.POSITIVE_INFINITY));
    const minutes = (last - downAt) / 60_000 - 60;
    console.info(`${count} mails, ${tries} tries in the hour, the last mail ${minutes.toFixed(1)} minutes after it`);
    expect(minutes).toBeLessThan(16);
  } finally {
    await catcher.close();
  }
}, 240_000);

test('a mail that no server accepts for four days fails', async () => {
  const em = fixture.deps.em();
  const data = { hostname: 'x.sites.localhost', link: `${fixture.config.baseUrl}/invitations/x`, days: 14 };
  const { id } = queueMail(em, fixture.deps, { kind: 'invitation', to: 'nobody@example.com', data });
  await em.flush();
  await until(
    () => fixture.logged.filter((line) => line.mailId === id),
    ({ length }) => length > 0,
    begunMs,
  );
  const result = await temporal.client.workflow.getHandle(`mail:${id}`).result();
  expect(result).toEqual({ status: 'failed' });
  expect(await fixture.deps.em().findOneOrFail(Mail, { id }, withText)).toMatchObject({
    status: 'failed',
    sealed: null,
    failure: 'no mail server accepted the e-mail within four days',
  });
}, 240_000);
