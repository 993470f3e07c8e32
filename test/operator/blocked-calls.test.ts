/** Every call on a site whose owner's account is blocked, from those who may still call: its collaborators, and who is paid by it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actorOf } from '#api/access.ts';
import { setRedirects } from '#api/redirects/rules.ts';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { Site } from '#db/sites/site.ts';
import { type AccessFixture, createAccessFixture } from '#test/api/access/access-fixture.ts';
import { sentTo } from '#test/api/access/access-paths.ts';
import { table } from '#test/api/access/access-table.ts';
import { errorOf } from '#test/api/fixture.ts';

/** What visitors see, or will see once the account goes on. */
const ofVisitors = [
  'PATCH /v1/sites/{id}',
  'PUT /v1/sites/{id}/redirects',
  'POST /v1/sites/{id}/forms',
  'PATCH /v1/forms/{id}',
  'DELETE /v1/forms/{id}',
  'POST /v1/forms/{id}/disable',
  'POST /v1/forms/{id}/enable',
  'PATCH /v1/submissions/{id}',
  'DELETE /v1/submissions/{id}',
  'POST /v1/sites/{id}/bookable',
  'PATCH /v1/sites/{id}/bookable',
  'DELETE /v1/sites/{id}/bookable',
  'POST /v1/sites/{id}/bookings',
  'POST /v1/bookings/{id}/move',
  'POST /v1/sites/{id}/payments',
  'POST /v1/payout-offers/{id}/accept',
  'POST /v1/sites/{id}/deployments',
  'POST /v1/deployments/{id}/manifest',
  'POST /v1/deployments/{id}/archive',
  'PUT /v1/deployments/{id}/files/{sha256}',
  'POST /v1/deployments/{id}/complete',
  'POST /v1/deployments/{id}/restore',
  'POST /v1/sites/{id}/publish',
  'POST /v1/sites/{id}/previews/{slot}',
  'POST /v1/sites/{id}/previews/{slot}/update',
  'POST /v1/sites/{id}/previews/{slot}/publish',
  'DELETE /v1/sites/{id}/previews/{slot}',
];

/** Work on the source, talk about it, and what either side may always end. */
const ofPeople = [
  'POST /v1/sites/{id}/git-credentials',
  'POST /v1/sites/{id}/commits',
  'PUT /v1/sites/{id}/assets/{path}',
  'POST /v1/sites/{id}/photos',
  'POST /v1/sites/{id}/uploads',
  'DELETE /v1/uploads/{id}',
  'POST /v1/bookings/{id}/cancel',
  'POST /v1/payments/{id}/expire',
  'POST /v1/sites/{id}/calendar-feeds',
  'DELETE /v1/calendar-feeds/{id}',
  'POST /v1/deployments/{id}/checks',
  'POST /v1/deployments/{id}/comparisons',
  'POST /v1/sites/{id}/comments',
  'POST /v1/comments/{id}/reply',
  'POST /v1/sites/{id}/review-links',
  'DELETE /v1/review-links/{id}',
  'DELETE /v1/payout-offers/{id}',
  'DELETE /v1/sites/{id}/payout-account',
];

let fixture: AccessFixture;
beforeAll(async () => {
  fixture = await createAccessFixture();
}, 60_000);
afterAll(() => fixture?.close());

const isOfTwo = (rule: string) => rule === 'parties' || rule === 'sides';

/** What the call is answered while the account of the site's owner is blocked; undefined where it did what it does. */
async function whileBlocked(name: string): Promise<string | undefined> {
  const entry = table[name];
  if (!entry) throw new Error(`${name} is not in the table`);
  const [method = '', pattern = ''] = name.split(' ');
  const known = pattern.startsWith('/v1/deployments/') ? fixture.deploymentId : fixture.siteId;
  const parts: Record<string, string> = { id: known, ...(await entry.path?.(fixture)) };
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_all, part) => parts[part] ?? part);
  const caller = fixture.calls[isOfTwo(entry.rule) ? 'payout owner' : 'collaborator'];
  await blockAccount(fixture.deps.em(), fixture.deps, fixture.ownerId, 'Its sites ask for passwords.');
  const { headers, ...sent } = { headers: {}, ...sentTo(fixture, name) };
  const answer = await caller(method, `${path}${entry.query ?? ''}`, {
    ...sent,
    headers: { prefer: 'respond-async', ...headers },
  });
  await unblockAccount(fixture.deps.em(), fixture.deps, fixture.ownerId);
  if (answer.status < 400) return undefined;
  const { code, message } = errorOf(answer);
  return `${code}: ${message.includes('has been blocked by the operator') ? 'blocked' : message}`;
}

test('every call that changes a site is on one of the two lists', () => {
  const asked = Object.entries(table).filter(
    ([name, { rule }]) => !name.startsWith('GET ') && (rule === 'members' || isOfTwo(rule)),
  );
  expect([...ofVisitors, ...ofPeople].sort()).toEqual(asked.map(([name]) => name).sort());
});

test.each(ofVisitors)('%s changes nothing visible while the owner’s account is blocked', async (name) => {
  expect(await whileBlocked(name)).toBe('site_archived: blocked');
});

test.each(ofPeople)('%s works while the owner’s account is blocked', async (name) => {
  const refusal = table[name]?.rule === 'members' ? table[name].refusal : undefined;
  const answer = await whileBlocked(name);
  expect(answer?.split(':')[0]).toBe(refusal);
});

test('redirects validated before a block are not set after it', async () => {
  const em = fixture.deps.em();
  const before = (await em.findOneOrFail(Site, { id: fixture.siteId })).redirectsSha256;
  const store = {
    ...fixture.deps.store,
    // The block comes between the judging and the writing.
    async flush() {
      await fixture.deps.store.flush();
      await blockAccount(fixture.deps.em(), fixture.deps, fixture.ownerId, 'Its sites ask for passwords.');
    },
  };
  const actor = actorOf(fixture.collaboratorId, 'tok');
  const rules = [{ from: '/a', to: '/b', status: 301 }];
  const setting = setRedirects(fixture.deps.em(), { ...fixture.deps, store }, actor, fixture.siteId, rules);
  await expect(setting).rejects.toMatchObject({ code: 'site_archived' });
  await unblockAccount(fixture.deps.em(), fixture.deps, fixture.ownerId);
  expect((await fixture.deps.em().findOneOrFail(Site, { id: fixture.siteId })).redirectsSha256).toBe(before);
});
