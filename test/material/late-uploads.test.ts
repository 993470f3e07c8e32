import { afterAll, beforeAll, expect, test } from 'vitest';
import { blockAccount } from '#db/accounts/blocks.ts';
import { blockSite } from '#db/sites/transitions.ts';
import * as sample from '#test/git/samples.ts';
import { createMaterial, type Material } from './fixture.ts';
import { openSend } from './slow.ts';

let material: Material;
beforeAll(async () => {
  material = await createMaterial();
});
afterAll(() => material.close());

test('an upload is refused when its link expires or its site is blocked meanwhile', async () => {
  const em = () => material.deps.em();
  const ends: [string, (owner: { accountId: string; siteId: string }, id: string) => Promise<unknown>][] = [
    ['expired', (_, id) => em().execute('update upload_link set ended_at = now() where id = ?', [id])],
    ['site_archived', ({ siteId }) => blockSite(em(), material.clock, siteId, 'It shows what is not its own.')],
    ['site_archived', ({ accountId }) => blockAccount(em(), material, accountId, 'It shows what is not its own.')],
  ];
  for (const [code, end] of ends) {
    const owner = await material.owner();
    const link = await material.link(owner, owner.siteId);
    const slow = openSend(link.address, 'a.png');
    await slow.write(sample.png.subarray(0, 20));
    await slow.begun();
    await end(owner, link.id);
    const { body } = await slow.end(sample.png.subarray(20));
    expect(body.error?.code).toBe(code);
    expect(await material.assetFiles(owner.siteId)).toEqual([]);
  }
});

test('a photo without a record is in the inbox once sent again', async () => {
  const owner = await material.owner();
  const link = await material.link(owner, owner.siteId);
  const arrived = async () =>
    (await owner.call('GET', '/v1/inbox')).body.items.filter(({ kind }: { kind: string }) => kind === 'photos_arrived');
  const em = material.deps.em();
  await em.execute(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before update of last_file_at on upload_link for each row execute function refuse()`);
  try {
    expect((await material.send(link, 'a.png', sample.png)).status).toBe(500);
    expect(material.takeUnexpected()).toHaveLength(1);
  } finally {
    await em.execute('drop trigger refuse on upload_link; drop function refuse');
  }
  expect([await arrived(), await material.assetFiles(owner.siteId)]).toEqual([[], ['src/assets/a.png']]);
  expect((await material.send(link, 'a.png', sample.png)).status).toBe(200);
  const [item] = await arrived();
  expect(item).toMatchObject({ id: link.id, message: 'The newest is src/assets/a.png.' });
  // A file that was recorded is no news.
  expect((await material.send(link, 'a.png', sample.png)).status).toBe(200);
  expect(await arrived()).toEqual([item]);
});
