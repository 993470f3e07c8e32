import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sweep } from '#api/sweeps.ts';
import type { Limits } from '#rules/limit-names.ts';
import { errorOf } from '#test/api/fixture.ts';
import * as sample from '#test/git/samples.ts';
import { createMaterial, type Material } from './fixture.ts';

async function materialWith(limits: Partial<Limits>): Promise<Material> {
  const material = await createMaterial({ FRONTAGE_PHOTOS: 'offline' }, { limits });
  onTestFinished(() => material.close());
  return material;
}

/** A picture of this many bytes, of which no two are alike. */
let pictures = 0;
function picture(bytes: number): Buffer {
  pictures += 1;
  return sample.pngOf(1, pictures, sample.pngPart('abCd', Buffer.alloc(bytes, pictures)));
}

/** What one call by each way in is told. */
async function byEachWay(material: Material, owner: Awaited<ReturnType<Material['owner']>>): Promise<string[]> {
  const link = await material.link(owner, owner.siteId);
  const { body } = await owner.call('POST', '/v1/photos/search', { body: { query: 'bread' } });
  const photo = { photo_id: body.items[0].id, path: 'src/assets/photo.jpg' };
  const answers = [
    await material.put(owner, owner.siteId, 'src/assets/put.png', picture(10)),
    await material.send(link, 'link.png', picture(10)),
    await owner.call('POST', `/v1/sites/${owner.siteId}/photos`, { body: photo }),
  ];
  return answers.map((answer) => errorOf(answer).code);
}

test('files beyond the daily limit leave nothing in the repository', async () => {
  const material = await materialWith({ files_per_day: 1 });
  const owner = await material.owner();
  const first = picture(10);
  expect((await material.put(owner, owner.siteId, 'src/assets/first.png', first)).status).toBe(200);
  const before = await material.objects(owner.siteId);
  expect(await byEachWay(material, owner)).toEqual(['rate_limited', 'rate_limited', 'rate_limited']);
  expect(await material.objects(owner.siteId)).toEqual(before);
  expect((await material.put(owner, owner.siteId, 'src/assets/first.png', first)).status).toBe(200);
});

test('files for a full site leave nothing in the repository', async () => {
  const material = await materialWith({ site_bytes: 10 });
  const owner = await material.owner();
  const before = await material.objects(owner.siteId);
  expect(await byEachWay(material, owner)).toEqual(['plan_limit', 'plan_limit', 'plan_limit']);
  expect(await material.objects(owner.siteId)).toEqual(before);
  expect(await material.usedToday(owner)).toBe(0);
});

test('killed processes’ upload names are swept', async () => {
  const material = await materialWith({});
  const owner = await material.owner();
  expect((await material.put(owner, owner.siteId, 'src/assets/a.png', picture(10))).status).toBe(200);
  const incoming = join(material.config.dataDir, 'incoming');
  expect(await readdir(incoming)).toEqual([]);
  await writeFile(join(incoming, 'left'), '');
  await sweep(material.deps);
  expect(await readdir(incoming)).toEqual([]);
});
