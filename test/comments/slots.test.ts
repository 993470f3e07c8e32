import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { showDraft } from './drafts.ts';
import { createCommentFixture } from './fixture.ts';
import { createLinkFixture, type LinkFixture, page, secretOf } from './link-fixture.ts';

let fixture: LinkFixture;
beforeAll(async () => {
  fixture = await createLinkFixture();
});
afterAll(() => fixture?.close());

const day = 86_400_000;

test('a slot’s link opens its host with the loader, and comments name the draft', async () => {
  const owner = await fixture.newSite();
  const place = { siteId: owner.site.id, accountId: owner.accountId, slot: 2 };
  const { label, deploymentId } = await showDraft(fixture, place, page.replace('Hello', 'Draft'));
  const { body } = await owner.review({ slot: 2 });
  expect(body.slot).toBe(2);
  const to = new URL((await fixture.open(secretOf(body))).headers.get('location') ?? '');
  expect(to.hostname).toBe(`${label}.${fixture.config.baseDomain}`);
  const marked = await fixture.visit(label, to.pathname + to.search);
  const cookie = String(marked.headers['set-cookie']).split(';')[0] ?? '';
  await expect.poll(async () => (await fixture.visit(label, '/', { cookie })).text).toContain('Draft');
  const reviewed = await fixture.visit(label, '/', { cookie });
  expect(reviewed.text).toContain(
    `data-frontage-frame="${fixture.config.baseUrl}/review/frame/${owner.site.public_id}"`,
  );
  expect(reviewed.headers['x-robots-tag']).toContain('noindex');
  const policy = (await fetch(`${fixture.url}/review/frame/${owner.site.public_id}`)).headers.get(
    'content-security-policy',
  );
  expect(policy).toContain(`http://${label}.${fixture.config.baseDomain}`);
  const { body: made } = await fixture.asFrame(secretOf(body)).comment({});
  expect(made.thread.deployment_id).toBe(deploymentId);
});

test('an unknown slot is invalid_slot, an empty one preview_empty', async () => {
  const owner = await fixture.newSite();
  for (const slot of [0, -1, 6, 1.5, '1', null])
    expect(errorOf(await owner.review({ slot })).code).toBe('invalid_slot');
  const empty = await owner.review({ slot: 1 });
  expect([empty.status, errorOf(empty).code]).toEqual([409, 'preview_empty']);
});

test('an expired draft is preview_expired, for the call and for links', async () => {
  const owner = await fixture.newSite();
  await showDraft(fixture, { siteId: owner.site.id, accountId: owner.accountId, slot: 1 }, page);
  const { body } = await owner.review({ slot: 1, expires_in_seconds: 20 * 86_400 });
  expect((await fixture.open(secretOf(body))).status).toBe(303);
  fixture.skip(15 * day);
  expect(errorOf(await owner.review({ slot: 1 })).code).toBe('preview_expired');
  expect((await fixture.open(secretOf(body))).status).toBe(410);
  expect(errorOf(await fixture.asFrame(secretOf(body)).comment({})).code).toBe('preview_expired');
  fixture.skip(-15 * day);
});

test('without previews a link to a slot is preview_disabled', async () => {
  const bare = await createCommentFixture({ FRONTAGE_PREVIEWS: 'off' });
  try {
    const owner = await bare.newOwner();
    expect(errorOf(await owner.review({ slot: 1 })).code).toBe('preview_disabled');
    expect((await owner.review()).status).toBe(200);
  } finally {
    await bare.close();
  }
});
