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
  const { policy } = await fixture.frame(owner.site.public_id, fixture.originOf(label));
  expect(policy).toContain(`frame-ancestors ${fixture.originOf(label)}`);
  const { body: made } = await fixture.asFrame(secretOf(body)).comment({});
  expect(made.thread.deployment_id).toBe(deploymentId);
  const { items } = (await owner.call('GET', '/v1/inbox')).body;
  const who = (await owner.call('GET', '/v1/account')).body.name;
  expect(items).toMatchObject([{ kind: 'open_comment', site: { id: owner.site.id }, slot: 2, who }]);
});

test('the frame names the one host that asked, and no other', async () => {
  const [owner, other] = [await fixture.newSite(), await fixture.newSite()];
  const show = (slot: number) => showDraft(fixture, { siteId: owner.site.id, accountId: owner.accountId, slot }, page);
  const drafts = [await show(1), await show(2)];
  const hosts = [owner.site.name, ...drafts.map(({ label }) => label)];
  for (const asking of hosts) {
    const { answer, text } = await fixture.frame(owner.site.public_id, fixture.originOf(asking));
    expect(answer.status).toBe(200);
    const whole = text + JSON.stringify([...answer.headers]);
    expect(hosts.filter((host) => whole.includes(host))).toEqual([asking]);
  }
  const foreign = ['http://evil.example', fixture.originOf(other.site.name), 'null', '', '*', undefined];
  for (const origin of foreign) {
    const { answer, text, policy } = await fixture.frame(owner.site.public_id, origin);
    expect([answer.status, policy.includes("frame-ancestors 'none'")]).toEqual([404, true]);
    expect(hosts.filter((host) => (text + policy).includes(host))).toEqual([]);
  }
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
  const over = await fixture.open(secretOf(body));
  expect(over.status).toBe(410);
  expect(await over.text()).toContain('<h1>This preview has expired</h1>');
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
