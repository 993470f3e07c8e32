/** Items that an account marks as done. */
import { afterAll, expect, test } from 'vitest';
import { sweep } from '#api/sweeps.ts';
import { errorOf } from '#test/api/fixture.ts';
import { pngOf } from '#test/git/samples.ts';
import { clearInbox, createInboxFixture } from './fixture.ts';

const fixture = await createInboxFixture();
afterAll(() => fixture.close());
const { ask } = fixture;

type Owner = Awaited<ReturnType<typeof fixture.newCaller>>;
const idsIn = async (owner: Owner, query = '') =>
  (await owner.call('GET', `/v1/inbox${query}`)).body.items.map(({ id }: { id: string }) => id);
const finish = (owner: Owner, ...items: [kind: string, id: string][]) =>
  owner.call('POST', '/v1/inbox/done', { body: { items: items.map(([kind, id]) => ({ kind, id })) } });

test('an item that is done leaves the inbox of its account only', async () => {
  const [owner, host] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  await clearInbox(owner);
  const failed = await fixture.failedBuild(owner, site.id);
  const invitation = (await ask.invite(host, (await ask.newSite(host)).id, await ask.emailOf(owner))).body;
  expect(await idsIn(owner)).toEqual([invitation.id, failed]);
  const done = await finish(owner, ['failed_build', failed]);
  expect([done.status, done.body]).toEqual([200, { items: [{ kind: 'failed_build', id: failed }] }]);
  expect(await idsIn(owner)).toEqual([invitation.id]);
  expect(await idsIn(member)).toEqual([failed]);
  expect((await finish(owner, ['failed_build', failed], ['failed_build', failed])).body.items).toHaveLength(1);
  // Nothing else has changed.
  expect((await owner.call('GET', '/v1/invitations')).body.items).toHaveLength(1);
});

test('an item returns when its thing changes', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  await clearInbox(owner);
  const body = { page: '/', body: 'Larger, please.', screenshot_base64: pngOf(1, 1).toString('base64') };
  const { id } = (await member.call('POST', `/v1/sites/${site.id}/comments`, { body })).body;
  expect(await idsIn(owner)).toEqual([id]);
  await finish(owner, ['open_comment', id]);
  expect(await idsIn(owner)).toEqual([]);
  const waiting = owner.call('GET', '/v1/inbox?wait=25');
  await member.call('POST', `/v1/comments/${id}/reply`, { body: { message: 'And bolder.' } });
  expect((await waiting).body.items).toMatchObject([
    {
      kind: 'open_comment',
      id,
      site: { id: site.id, hostname: `${site.name}.${fixture.config.baseDomain}` },
      slot: null,
      who: (await member.call('GET', '/v1/account')).body.name,
      message: 'And bolder.',
    },
  ]);
});

test('items that are not in the inbox are refused, and none is marked', async () => {
  const [owner, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const failed = await fixture.failedBuild(owner, (await ask.newSite(owner)).id);
  for (const [kind, id] of [
    ['failed_build', 'dep_x'],
    ['invitation', failed],
    ['failed_build', '__proto__'],
  ] as const) {
    const answer = await finish(owner, ['failed_build', failed], [kind, id]);
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found']);
  }
  expect((await finish(other, ['failed_build', failed])).status).toBe(404);
  expect(await idsIn(owner)).toEqual([failed]);
  for (const items of [[], Array(101).fill({ kind: 'failed_build', id: failed }), [{ kind: 'gossip', id: failed }]])
    expect(errorOf(await owner.call('POST', '/v1/inbox/done', { body: { items } })).code).toBe('invalid_json');
});

test('open items below many that are done are found', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const submissions = await fixture.formWith(site.id, 450);
  const seen = new Set<string>();
  for (let ids: string[] = await idsIn(owner, '?limit=100'); ids.length > 0; ids = await idsIn(owner, '?limit=100')) {
    for (const id of ids) seen.add(id);
    await finish(owner, ...ids.map((id): [string, string] => ['new_submission', id]));
  }
  expect([...seen].sort()).toEqual(submissions);
});

test('after a year an item that is still open returns', async () => {
  const owner = await fixture.newCaller();
  const failed = await fixture.failedBuild(owner, (await ask.newSite(owner)).id);
  await finish(owner, ['failed_build', failed]);
  await sweep(fixture.deps);
  expect(await idsIn(owner)).toEqual([]);
  await fixture.deps.em().execute(`update inbox_done set done_at = done_at - interval '366 days'`);
  await sweep(fixture.deps);
  expect(await idsIn(owner)).toEqual([failed]);
});
