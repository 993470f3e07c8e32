/** What waits for a caller, in one list: whose it is, how long it stays, and what came after a moment. */
import { afterAll, expect, test } from 'vitest';
import { sweepInboxNews } from '#api/inbox/poller.ts';
import { errorOf } from '#test/api/fixture.ts';
import { clearInbox, createInboxFixture, idsOf } from './fixture.ts';

const fixture = await createInboxFixture();
afterAll(() => fixture.close());
const { ask } = fixture;

test('items are listed over all sites, newest first, with the next action', async () => {
  const [owner, host] = [await fixture.newCaller(), await fixture.newCaller()];
  const [first, second] = [await ask.newSite(owner), await ask.newSite(owner)];
  const failed = await fixture.failedBuild(owner, first.id);
  const invitation = (await ask.invite(host, (await ask.newSite(host)).id, await ask.emailOf(owner))).body;
  const failedToo = await fixture.failedBuild(owner, second.id);
  const { body } = await owner.call('GET', '/v1/inbox');
  expect(body).toEqual({
    items: [
      {
        kind: 'failed_build',
        id: failedToo,
        site: { id: second.id, hostname: `${second.name}.${fixture.config.baseDomain}` },
        slot: null,
        who: (await owner.call('GET', '/v1/account')).body.name,
        at: expect.stringMatching(/Z$/),
        title: `Version 1 of ${second.title} could not be published.`,
        message: 'The page src/pages/index.astro has a fault.',
        next_action: `Call GET /v1/deployments/${failedToo} to read the log, fix the problem, and call POST /v1/sites/${second.id}/publish.`,
      },
      {
        kind: 'invitation',
        id: invitation.id,
        site: invitation.site,
        slot: null,
        who: (await host.call('GET', '/v1/account')).body.name,
        at: invitation.created_at,
        title: expect.stringContaining('invited'),
        next_action: expect.stringContaining(`POST /v1/invitations/${invitation.id}/accept`),
      },
      expect.objectContaining({ kind: 'failed_build', id: failed }),
    ],
    next_cursor: null,
  });
});

test('collaborators see their own items, and strangers see none', async () => {
  const [owner, stranger] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await ask.newSite(owner);
  const collaborator = await ask.newCollaborator(owner, site.id);
  const former = await ask.newCollaborator(owner, site.id);
  await ask.remove(owner, site.id, former.accountId);
  await clearInbox(owner);
  const guest = await fixture.newCaller();
  const { body: invitation } = await ask.invite(owner, site.id, await ask.emailOf(guest));
  const failed = await fixture.failedBuild(owner, site.id);
  expect(idsOf(await owner.call('GET', '/v1/inbox'))).toEqual([failed]);
  expect(idsOf(await collaborator.call('GET', '/v1/inbox'))).toEqual([failed]);
  expect(idsOf(await guest.call('GET', '/v1/inbox'))).toEqual([invitation.id]);
  expect(idsOf(await former.call('GET', '/v1/inbox'))).toEqual([]);
  expect(idsOf(await stranger.call('GET', '/v1/inbox'))).toEqual([]);
});

test('only a site’s last failed build is listed, until a later build exists', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const listed = async () => idsOf(await owner.call('GET', '/v1/inbox'));
  await fixture.failedBuild(owner, site.id);
  const last = await fixture.failedBuild(owner, site.id);
  expect(await listed()).toEqual([last]);
  const retried = await fixture.publish(owner, site.id);
  expect(await listed()).toEqual([]);
  await fixture.fail(retried);
  expect(await listed()).toEqual([retried]);
  await fixture.becomeLive(await fixture.publish(owner, site.id));
  expect(await listed()).toEqual([]);
  const failed = await fixture.failedBuild(owner, site.id);
  expect(await listed()).toEqual([failed]);
  expect((await owner.call('POST', `/v1/sites/${site.id}/archive`)).status).toBe(200);
  expect(await listed()).toEqual([]);
});

test('a failed draft is listed until its slot is built again', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const failed = await fixture.preview(owner, site.id, 2);
  await fixture.fail(failed);
  const published = await fixture.failedBuild(owner, site.id);
  const { body } = await owner.call('GET', '/v1/inbox');
  expect(body.items).toMatchObject([
    { id: published, title: `Version 2 of ${site.title} could not be published.` },
    {
      id: failed,
      slot: 2,
      title: `The draft in preview slot 2 of ${site.title} could not be built.`,
      next_action: expect.stringContaining(`POST /v1/sites/${site.id}/previews/2.`),
    },
  ]);
  await fixture.preview(owner, site.id, 2);
  expect(idsOf(await owner.call('GET', '/v1/inbox'))).toEqual([published]);
});

test('an invitation is listed until it is accepted, withdrawn or expired', async () => {
  const [owner, guest] = [await fixture.newCaller(), await fixture.newCaller()];
  const email = await ask.emailOf(guest);
  const listed = async () => idsOf(await guest.call('GET', '/v1/inbox'));
  const sites = await Promise.all([1, 2, 3].map(() => ask.newSite(owner)));
  const [accepted, withdrawn, late] = await Promise.all(
    sites.map(async ({ id }) => (await ask.invite(owner, id, email)).body.id as string),
  );
  expect((await listed()).sort()).toEqual([accepted, withdrawn, late].sort());
  await ask.accept(guest, accepted as string);
  await ask.withdraw(owner, sites[1]?.id as string, withdrawn as string);
  expect(await listed()).toEqual([late]);
  fixture.skip(15 * 24 * 3600_000);
  expect(await listed()).toEqual([]);
});

test('since excludes earlier items, in any notation', async () => {
  const owner = await fixture.newCaller();
  const failed = await fixture.failedBuild(owner, (await ask.newSite(owner)).id);
  const [{ at }] = (await owner.call('GET', '/v1/inbox')).body.items;
  const since = async (text: string) => idsOf(await owner.call('GET', `/v1/inbox?since=${encodeURIComponent(text)}`));
  const moment = (ms: number) => new Date(new Date(at).getTime() + ms).toISOString();
  expect(await since(at)).toEqual([]);
  expect(await since(moment(1))).toEqual([]);
  expect(await since(moment(-1))).toEqual([failed]);
  expect(await since('1999-12-31T23:59:59+01:00')).toEqual([failed]);
});

test.each([
  'yesterday',
  '2026-11-21',
  '2026-11-21T10:00:00',
  '2026-11-21 10:00:00Z',
  '2026-13-01T00:00:00Z',
  '1700000000',
  '',
])('since=%s is invalid_since', async (text) => {
  const owner = await fixture.newCaller();
  const answer = await owner.call('GET', `/v1/inbox?since=${encodeURIComponent(text)}`);
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_since']);
});

test.each(['-1', '51', '1.5', 'long'])('wait=%s is refused', async (text) => {
  const owner = await fixture.newCaller();
  const answer = await owner.call('GET', `/v1/inbox?wait=${text}`);
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_input']);
});

test('a long inbox has pages, with each item once', async () => {
  const owner = await fixture.newCaller();
  const failed: string[] = [];
  for (let n = 0; n < 5; n++) failed.unshift(await fixture.failedBuild(owner, (await ask.newSite(owner)).id));
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const answer = await owner.call('GET', `/v1/inbox?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    seen.push(...idsOf(answer));
    cursor = answer.body.next_cursor;
  }
  expect(seen).toEqual(failed);
});

test('rows that every process has read are deleted', async () => {
  const count = async () => Number((await fixture.deps.em().execute('select count(*) as n from inbox_news'))[0]?.n);
  await fixture.deps.em().execute(`insert into inbox_news (topic) select 'nobody' from generate_series(1, 21000)`);
  await sweepInboxNews(fixture.deps);
  expect(await count()).toBe(20_000);
});
