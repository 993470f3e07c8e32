/** Git works on a slot while nothing of the database is held, and on the branches as they are in the end. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { createPreviewFixture, type PreviewFixture, type Site } from './fixture.ts';

let fixture: PreviewFixture;
let outside: Awaited<ReturnType<PreviewFixture['start']>>;
beforeAll(async () => {
  fixture = await createPreviewFixture();
  outside = await fixture.start();
}, 60_000);
afterAll(() => fixture?.close());

/** Throws if the site's row stays locked. The worker's transactions lock it for moments; one that asks git would not end. */
const requireUnlocked = (site: Site) =>
  outside.deps.em().transactional(async (tx) => {
    await tx.execute(`set local lock_timeout = '5s'`);
    await tx.execute('select from site where id = ? for update', [site.id]);
  });

/** Runs `act`, and `meanwhile` each time that git is asked what a commit contains. Returns how often it was asked. */
async function asking(act: () => Promise<unknown>, meanwhile: () => Promise<unknown>): Promise<number> {
  const contains = fixture.repositories.contains;
  const spy = vi.spyOn(fixture.repositories, 'contains').mockImplementation(async (...question) => {
    await meanwhile();
    return await contains(...question);
  });
  try {
    await act();
    return spy.mock.calls.filter(([, , commit, ancestor]) => commit !== ancestor).length;
  } finally {
    spy.mockRestore();
  }
}

/** A published site whose first slot has a commit that the site lacks. */
async function prepared() {
  const site = await fixture.newSite();
  await fixture.publishSite(site);
  const tip = await fixture.write(site, 'preview/1', { 'slot.html': 'x' });
  await fixture.build(site, 1);
  return { site, tip };
}

test('git is asked about history only while the site’s row is free', async () => {
  const { site, tip } = await prepared();
  const locked: unknown[] = [];
  const meanwhile = () => requireUnlocked(site).catch((error) => locked.push(error));
  let status: unknown;
  const publish = async () => {
    status = (await fixture.publish(site, 1)).body.status;
  };
  const clear = async () => expect((await fixture.clear(site, 1)).status).toBe(200);
  expect(await asking(publish, meanwhile)).toBeGreaterThan(0);
  expect(status).toBe('live');
  expect(await fixture.repositories.head(site.id, 'source')).toBe(tip);
  await fixture.write(site, 'main', { 'later.html': 'x' });
  expect(await asking(clear, meanwhile)).toBeGreaterThan(0);
  expect(await fixture.repositories.head(site.id, 'source', 'preview/1')).toBeNull();
  expect(locked).toEqual([]);
});

test('a push that arrives while a slot is cleared is not lost', async () => {
  const { site } = await prepared();
  await fixture.publish(site, 1);
  await fixture.write(site, 'main', { 'later.html': 'x' });
  let pushed: string | undefined;
  await asking(
    async () => {
      const answer = await fixture.clear(site, 1);
      expect([answer.status, errorOf(answer).code]).toEqual([409, 'preview_holds_work']);
    },
    async () => {
      pushed ??= await fixture.write(site, 'preview/1', { 'pushed.html': 'x' });
    },
  );
  expect(await fixture.repositories.head(site.id, 'source', 'preview/1')).toBe(pushed);
});

test('a push to main while a slot’s publish is checked makes it draft_behind', async () => {
  const { site } = await prepared();
  let pushed: string | undefined;
  await asking(
    async () => expect(errorOf(await fixture.publish(site, 1)).code).toBe('draft_behind'),
    async () => {
      pushed ??= await fixture.write(site, 'main', { 'pushed.html': 'x' });
    },
  );
  expect(await fixture.repositories.head(site.id, 'source')).toBe(pushed);
});
