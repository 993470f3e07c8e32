/** Items that report what others did: photos, invitations, and versions of collaborators. */
import { afterAll, expect, test } from 'vitest';
import { type Caller, createSite } from '#test/api/fixture.ts';
import { pngOf } from '#test/git/samples.ts';
import { quickest } from '#test/stack/quickest.ts';
import { clearInbox, createInboxFixture, hear } from './fixture.ts';

const fixture = await createInboxFixture();
afterAll(() => fixture.close());
const { ask } = fixture;

const itemsOf = async (caller: Caller, query = '') => (await caller.call('GET', `/v1/inbox${query}`)).body.items;
const finish = (caller: Caller, { kind, id }: { kind: string; id: string }) =>
  caller.call('POST', '/v1/inbox/done', { body: { items: [{ kind, id }] } });
const nameOf = async (caller: Caller) => (await caller.call('GET', '/v1/account')).body.name;
const hostnameOf = ({ name }: { name: string }) => `${name}.${fixture.config.baseDomain}`;

async function newLink(owner: Caller, siteId: string) {
  const { body } = await owner.call('POST', `/v1/sites/${siteId}/uploads`, { body: {} });
  const send = async (name: string, bytes: Buffer) => {
    const headers = { 'x-file-name': name, accept: 'application/json' };
    const { pathname } = new URL(body.url);
    const answer = await fetch(`${fixture.url}${pathname}`, { method: 'POST', headers, body: new Uint8Array(bytes) });
    expect(answer.status, await answer.text()).toBe(200);
  };
  return { id: body.id as string, send };
}

test('photos are listed until a version requested later is live', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const { id, send } = await newLink(owner, site.id);
  await send('oven.png', pngOf(1, 1));
  const listed = {
    kind: 'photos_arrived',
    id,
    site: { id: site.id, hostname: hostnameOf(site) },
    slot: null,
    who: null,
    at: expect.stringMatching(/Z$/),
    title: `A photo has arrived on ${site.title} through an upload link.`,
    message: 'The newest is src/assets/oven.png.',
    next_action: expect.stringContaining(`GET /v1/sites/${site.id}/assets`),
  };
  const items = await itemsOf(owner);
  expect(items).toEqual([listed]);
  expect((await finish(owner, items[0])).status).toBe(200);
  expect(await itemsOf(owner)).toEqual([]);
  const publish = await fixture.publish(owner, site.id);
  fixture.skip(1_000);
  await send('bread.png', pngOf(2, 2));
  // The same file again is no new photo.
  await send('bread.png', pngOf(2, 2));
  await fixture.becomeLive(publish);
  expect(await itemsOf(owner)).toMatchObject([
    {
      id,
      title: `2 photos have arrived on ${site.title} through an upload link.`,
      message: expect.stringContaining('bread.png'),
    },
  ]);
  fixture.skip(1_000);
  await fixture.becomeLive(await fixture.publish(owner, site.id));
  expect(await itemsOf(owner)).toEqual([]);
});

test('a waiting call returns within a second of a photo', async () => {
  const owner = await fixture.newCaller();
  const ms = await quickest(1_000, async () => {
    const { send } = await newLink(owner, (await createSite(owner)).id);
    const waited = await hear(fixture, owner, 'photos_arrived', () => send('a.png', pngOf(3, 3)));
    await clearInbox(owner);
    return waited;
  });
  expect(ms).toBeLessThan(1_000);
});

test('an accepted invitation is listed for the owner while it gives access', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const [guest, second] = [await ask.newCollaborator(owner, site.id), await ask.newCollaborator(owner, site.id)];
  const [name, email] = [await nameOf(second), await ask.emailOf(second)];
  const items = await itemsOf(owner);
  expect(items).toMatchObject([
    {
      kind: 'invitation_accepted',
      site: { id: site.id, hostname: hostnameOf(site) },
      who: name,
      title: `${name} (${email}) has accepted the invitation to work on ${hostnameOf(site)}.`,
      next_action: expect.stringContaining(`DELETE /v1/sites/${site.id}/collaborators/${second.accountId}`),
    },
    { kind: 'invitation_accepted' },
  ]);
  expect(await itemsOf(guest)).toEqual([]);
  await ask.remove(owner, site.id, guest.accountId);
  expect((await itemsOf(owner)).map(({ id }: { id: string }) => id)).toEqual([items[0].id]);
  await finish(owner, items[0]);
  expect(await itemsOf(owner)).toEqual([]);
});

test('a waiting call returns within a second of an acceptance', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const ms = await quickest(1_000, async () => {
    const guest = await fixture.newCaller();
    const { body } = await ask.invite(owner, site.id, await ask.emailOf(guest));
    const waited = await hear(fixture, owner, 'invitation_accepted', () => ask.accept(guest, body.id));
    await clearInbox(owner);
    return waited;
  });
  expect(ms).toBeLessThan(1_000);
});

test('a collaborator’s version is listed for the owner until another is live', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  await clearInbox(owner);
  const name = await nameOf(member);
  const published = await fixture.publish(member, site.id);
  await fixture.becomeLive(published);
  expect(await itemsOf(owner)).toMatchObject([
    {
      kind: 'collaborator_published',
      id: published,
      site: { id: site.id, hostname: hostnameOf(site) },
      slot: null,
      who: name,
      title: `${name} published version 1 of ${site.title}.`,
    },
  ]);
  expect(await itemsOf(member)).toEqual([]);
  const own = await fixture.publish(owner, site.id);
  await fixture.becomeLive(own);
  expect(await itemsOf(owner)).toEqual([]);
});

test('who restored a version counts, not who published it', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  await clearInbox(owner);
  const [members, own] = [await fixture.publish(member, site.id), await fixture.publish(owner, site.id)];
  const manifest = await fixture.deps.store.put(Buffer.from(''));
  const restore = async (by: Caller, id: string) => {
    fixture.skip(1_000);
    const answer = await by.call('POST', `/v1/deployments/${id}/restore`);
    expect(answer.status, answer.text).toBe(200);
  };
  await fixture.becomeLive(members, manifest.sha256);
  await fixture.becomeLive(own, manifest.sha256);
  await restore(owner, members);
  expect(await itemsOf(owner)).toEqual([]);
  await restore(member, own);
  const title = `${await nameOf(member)} restored version 2 of ${site.title}.`;
  const items = await itemsOf(owner);
  expect(items).toMatchObject([{ kind: 'collaborator_published', id: own, title }]);
  await finish(owner, items[0]);
  expect(await itemsOf(owner)).toEqual([]);
  await restore(member, own);
  expect(await itemsOf(owner)).toHaveLength(1);
});

test('a waiting call returns within a second of a collaborator’s publish', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  const ms = await quickest(1_000, async () => {
    await clearInbox(owner);
    const id = await fixture.publish(member, site.id);
    return await hear(fixture, owner, 'collaborator_published', () => fixture.becomeLive(id));
  });
  expect(ms).toBeLessThan(1_000);
});

test('news leave the inbox after 30 days', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const { send } = await newLink(owner, site.id);
  await send('oven.png', pngOf(1, 1));
  const member = await ask.newCollaborator(owner, site.id);
  await fixture.becomeLive(await fixture.publish(member, site.id));
  const kinds = async () => (await itemsOf(owner)).map(({ kind }: { kind: string }) => kind).sort();
  expect(await kinds()).toEqual(expect.arrayContaining(['collaborator_published', 'invitation_accepted']));
  fixture.skip(31 * 24 * 3600_000);
  expect(await kinds()).toEqual([]);
});
