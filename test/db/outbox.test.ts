import { afterAll, expect, test } from 'vitest';
import { relayOutbox } from '#db/outbox.ts';
import { createFixture } from '#test/api/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());

test('the start of a workflow that only a later release knows is sent', async () => {
  const { em, log } = fixture.deps;
  await em().execute(
    `insert into outbox (id, kind, workflow_id, message, created_at)
     values ('out_later', 'start', 'later:1', '{"type":"ofALaterRelease","input":{}}', now())`,
  );
  const started: unknown[] = [];
  const temporal = {
    withAbortSignal: (_: AbortSignal, act: () => unknown) => act(),
    workflow: {
      getHandle: () => ({}),
      start: async (type: string, { workflowId, taskQueue }: { workflowId: string; taskQueue: string }) => {
        if (workflowId === 'later:1') started.push({ type, taskQueue });
      },
    },
  };
  await relayOutbox({ em, temporal: temporal as never, clock: fixture.clock, log });
  expect(started).toEqual([{ type: 'ofALaterRelease', taskQueue: 'platform' }]);
});
