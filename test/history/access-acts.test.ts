/** What is recorded when access begins or grows, a site leaves, and a comment is closed. */
import { afterAll, expect, test, vi } from 'vitest';
import { usualScope } from '#rules/scopes.ts';
import { callWith, createSite, errorOf } from '#test/api/fixture.ts';
import { commentsOf } from '#test/comments/fixture.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { expectRecorded, recordedBy } from './recording.ts';

vi.setConfig({ testTimeout: 60_000 });

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());
const { deps } = fixture;

const shown = (recorded: Awaited<ReturnType<typeof recordedBy>>) =>
  recorded.map(({ action, via_kind, via_name }) => [action, via_kind, via_name]);

test('a token that an owner approved is recorded when its agent gets it', async () => {
  const owner = await fixture.newSignedIn();
  const { body: asked } = await fixture.ask(owner.email);
  const link = await fixture.linkTo(owner.email, 'access-request');
  const page = await owner.browser.open(link);
  await owner.browser.press(page, 'Give access', { code: asked.user_code, access: 'read' });
  const recorded = await recordedBy(deps, async () => {
    expect((await fixture.redeem(asked)).body).toMatchObject({ status: 'approved' });
  });
  expect(shown(recorded)).toEqual([['token.created', 'person', null]]);
  expect(recorded[0]?.detail).toEqual({ scope: { ...usualScope, access: 'read' }, expires_at: null });
});

test('a token that an owner widens is recorded as their act', async () => {
  const owner = await fixture.newSignedIn();
  const body = { name: 'Claude', scope: { ...usualScope, access: 'read' } };
  const { body: made } = await owner.call('POST', '/v1/tokens', { body });
  const site = await createSite(owner);
  const refused = await callWith(fixture.url, made.access_token)('POST', `/v1/sites/${site.id}/archive`);
  const link = new URL(/https?:\/\/\S+$/.exec(errorOf(refused).next_action ?? '')?.[0] ?? 'none:');
  const page = await owner.browser.open(link.pathname + link.search);
  const recorded = await recordedBy(deps, () => owner.browser.press(page, 'Allow always'));
  expect(shown(recorded)).toEqual([['token.widened', 'person', null]]);
});

test('an export, the deletion of a site and its restoration are recorded', async () => {
  const caller = await fixture.newCaller();
  const site = await createSite(caller);
  const path = `/v1/sites/${site.id}`;
  await expectRecorded(deps, 'site.exported', () => caller.call('GET', `${path}/export`));
  await caller.call('POST', `${path}/archive`);
  await expectRecorded(deps, 'site.deleted', () => caller.call('DELETE', `${path}?confirm=true`));
  await expectRecorded(deps, 'site.restored', () => caller.call('POST', `${path}/restore-site`));
});

test('a comment that is resolved and reopened says so once', async () => {
  const caller = await fixture.newCaller();
  const site = await createSite(caller);
  const comments = commentsOf(caller, site.id);
  const { id } = (await comments.open()).body;
  await expectRecorded(deps, 'comment.resolved', () => comments.resolve(id));
  expect(await recordedBy(deps, () => comments.resolve(id))).toEqual([]);
  await expectRecorded(deps, 'comment.reopened', () => comments.reopen(id));
});
