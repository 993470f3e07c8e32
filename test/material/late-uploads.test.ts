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
