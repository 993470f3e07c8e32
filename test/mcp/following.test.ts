import { expect, test } from 'vitest';
import type { ApiResponse, Input } from '#api/operations/inject.ts';
import { follow, followed } from '#api/operations/progress.ts';
import { createFixture, createSite } from '#test/api/fixture.ts';
import { connect } from './fixture.ts';

const answered = (status: number, body: Input): ApiResponse & { body: Input } => ({
  status,
  type: 'application/json',
  bytes: Buffer.from(JSON.stringify(body)),
  from: 0,
  more: false,
  path: '/v1/x',
  body,
});
const refused = (retryable: boolean) => answered(retryable ? 429 : 404, { error: { code: 'x', retryable } });

const never = () => new AbortController().signal;

/** Follows the operation's work over these readings, in turn; answers the end, what was told, and what was read. */
async function following(
  name: string,
  [begun, ...readings]: (ApiResponse & { body: Input })[],
  { gone = never(), stepMs = 1 } = {},
) {
  const how = followed[name];
  if (!how || !begun) throw new Error(`${name} is not followed`);
  const heard: string[] = [];
  const asked: string[] = [];
  const left = [...readings];
  const send = async (_method: string, path: string) => {
    asked.push(path);
    const next = left.shift();
    if (!next) throw new Error('read once too often');
    return next;
  };
  const tell = async (_seconds: number, status: string) => void heard.push(status);
  const ended = await follow(send, how, begun, { input: {}, tell, gone, stepMs });
  return { ended, heard, asked, left: left.length };
}

test('a temporarily refused poll continues, and a final refusal ends it', async () => {
  const building = answered(200, { id: 'dep_x', status: 'building' });
  const live = answered(200, { id: 'dep_x', status: 'live' });
  const { ended, heard, left } = await following('site.publish', [building, refused(true), refused(true), live]);
  expect([ended, heard, left]).toEqual([live, ['building'], 0]);
  expect((await following('site.publish', [building, refused(false)])).ended.status).toBe(404);
});

test('a failed resource is answered by its error, or itself if that is unreadable', async () => {
  const building = answered(200, { id: 'dep_x', status: 'building' });
  const failed = answered(200, {
    status: 'empty',
    failed_deployment_id: 'dep_y',
  });
  const why = answered(200, { id: 'dep_y', status: 'failed', error: { code: 'build_failed' } });
  expect((await following('preview.build', [building, failed, why])).ended).toBe(why);
  const unread = await following('preview.build', [building, failed, refused(true)]);
  expect([unread.ended, unread.asked.at(-1)]).toEqual([failed, '/v1/deployments/dep_y']);
});

test('a domain is followed while the platform acts, and not while its owner must', async () => {
  const domain = (waiting_on: string | null) =>
    answered(200, { id: 'dom_x', status: 'active', waiting_on, next_action: 'x', ssl: { status: 'pending' } });
  for (const waiting of ['owner', 'operator', null])
    expect((await following('domain.check', [domain(waiting)])).asked).toEqual([]);
  const { ended, heard } = await following('domain.check', [domain('platform'), domain('platform'), domain('owner')]);
  expect([ended.body?.waiting_on, heard]).toEqual(['owner', ['active, certificate pending']]);
});

test('a disconnected client ends polling at once', async () => {
  const building = answered(200, { id: 'dep_x', status: 'building' });
  const leaving = new AbortController();
  const how = following('site.publish', [building], { gone: leaving.signal, stepMs: 60_000 });
  leaving.abort();
  expect(await how).toMatchObject({ ended: building, heard: ['building'], asked: [] });
});

test('a process that shuts down returns its last state, and another one continues', async () => {
  const fixture = await createFixture();
  try {
    const owner = await fixture.newCaller();
    const site = await createSite(owner, { template: 'blank' });
    const second = await fixture.start();
    const [agent, next] = [await connect(second.url, owner.token), await connect(fixture.url, owner.token)];
    const { body } = await agent.call('site_publish', { id: site.id }, () => second.deps.shutdown.abort());
    expect(body).toMatchObject({
      status: 'queued',
      next_action: expect.stringContaining('deployment_read {"id":"dep_'),
    });
    expect((await next.call('deployment_read', { id: body.id })).body).toMatchObject({ status: 'queued' });
    await Promise.all([agent.close(), next.close()]);
  } finally {
    await fixture.close();
  }
});
