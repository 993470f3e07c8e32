/** Mails that wait, held against their workflows; nobody sends here. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailActivities } from '#activities/mail.ts';
import { Mail } from '#db/mail/mail.ts';
import { queueMail } from '#db/mail/queue.ts';
import { relayOutbox } from '#db/outbox.ts';
import { OutboxEntry } from '#db/outbox-entry.ts';
import { createFixture, type Fixture } from '#test/api/fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1' });
});
afterAll(() => fixture.close());

async function newMail(sendAt: Date | null = null): Promise<string> {
  const em = fixture.deps.em();
  const data = { hostname: 'x.sites.localhost', link: 'http://localhost/x', days: 14 };
  const { id } = queueMail(em, fixture.deps, { kind: 'invitation', to: 'a@example.com', data }, { sendAt });
  await em.flush();
  return id;
}
const reconcile = () => mailActivities(fixture.deps).reconcileMails();
const statusOf = async (id: string) => (await fixture.deps.em().findOneOrFail(Mail, { id })).status;

test('a waiting mail without a workflow is restarted, a running one is not', async () => {
  const id = await newMail();
  // As after a loss of the engine and of its entry.
  await fixture.deps.em().nativeDelete(OutboxEntry, { workflowId: `mail:${id}` });
  expect(await reconcile()).toEqual({ restarted: 0, failed: 0 });
  fixture.skip(61_000);
  expect(await reconcile()).toEqual({ restarted: 1, failed: 0 });
  await relayOutbox(fixture.deps);
  const { status } = await fixture.deps.temporal.workflow.getHandle(`mail:${id}`).describe();
  expect([status.name, await statusOf(id)]).toEqual(['RUNNING', 'queued']);
  expect(await reconcile()).toEqual({ restarted: 0, failed: 0 });
});

test('a mail whose workflow was terminated is settled as failed', async () => {
  const id = await newMail();
  await relayOutbox(fixture.deps);
  await fixture.deps.temporal.workflow.getHandle(`mail:${id}`).terminate('by a test');
  fixture.skip(61_000);
  expect(await reconcile()).toEqual({ restarted: 0, failed: 1 });
  expect(await statusOf(id)).toBe('failed');
});

test('a mail’s workflow starts when the mail may be sent, also after a restart', async () => {
  const id = await newMail(new Date(fixture.clock.now().getTime() + 3600_000));
  const delayOf = async () => {
    const { events } = await fixture.deps.temporal.workflow.getHandle(`mail:${id}`).fetchHistory();
    return Number(events?.[0]?.workflowExecutionStartedEventAttributes?.firstWorkflowTaskBackoff?.seconds);
  };
  await fixture.deps.em().nativeDelete(OutboxEntry, { workflowId: `mail:${id}` });
  fixture.skip(61_000);
  expect(await reconcile()).toEqual({ restarted: 1, failed: 0 });
  await relayOutbox(fixture.deps);
  expect(await delayOf()).toBeGreaterThan(3500);
  expect(await reconcile()).toEqual({ restarted: 0, failed: 0 });
});
