import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { OutboxEntry } from '#db/outbox-entry.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { callWith, createSite } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';
import { until } from '#test/stack/until.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';
import { createFixture, type Fixture, openFolder } from './fixture.ts';

vi.setConfig({ testTimeout: 180_000 });

let fixture: Fixture;
let other: Fixture;
let backups: Awaited<ReturnType<typeof openFolder>>;
beforeAll(async () => {
  [fixture, other, backups] = await Promise.all([
    createFixture(),
    createFixture({ TEMPORAL_NAMESPACE: await createNamespace() }),
    openFolder(),
  ]);
});
afterAll(async () => {
  await Promise.all([fixture?.close(), other?.close(), backups?.remove()]);
});

test('restored unfinished work continues on an installation whose Temporal has no history of it', async () => {
  const ask = people(fixture);
  const [owner, guest] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(owner);
  const publish = await owner.call('POST', `/v1/sites/${site.id}/publish`, {
    body: { scope: 'site' },
    headers: { prefer: 'respond-async' },
  });
  const invitation = await ask.invite(owner, site.id, await ask.emailOf(guest));
  const request = await callWith(fixture.url)('POST', '/v1/auth/requests', {
    body: { email: 'new@example.com', agent_name: 'Agent' },
  });
  expect([publish, invitation, request].map(({ status }) => status)).toEqual([200, 200, 200]);
  // Sent long ago, and forgotten since.
  await fixture.deps.em().nativeDelete(OutboxEntry, {});
  await backups.create(fixture);
  const { restarted } = await backups.restore(other);
  expect(restarted).toEqual({ publishSite: 1, inviteCollaborator: 1, grantAccess: 1, notify: 3 });
  const worker = await startWorker(other.deps);
  try {
    const ids = [
      workflowIds.publishSite(publish.body.id),
      workflowIds.inviteCollaborator(invitation.body.id),
      workflowIds.grantAccess(request.body.id),
    ];
    const { temporal } = other.deps;
    const statuses = () =>
      Promise.all(
        ids.map(async (id) => {
          const found = await temporal.workflow
            .getHandle(id)
            .describe()
            .catch(() => undefined);
          return found?.status.name;
        }),
      );
    await until(statuses, (seen) => seen.every((status) => status === 'RUNNING'));
    // It has its turn, and waits for somebody who builds.
    const status = async () =>
      (await callWith(other.url, owner.token)('GET', `/v1/deployments/${publish.body.id}`)).body.status;
    await until(status, (seen) => seen === 'building');
    // Invited here, answered there.
    const accepted = await callWith(other.url, guest.token)('POST', `/v1/invitations/${invitation.body.id}/accept`);
    expect(accepted.status).toBe(200);
    await until(statuses, (seen) => seen[1] === 'COMPLETED');
  } finally {
    await worker.close();
  }
});
