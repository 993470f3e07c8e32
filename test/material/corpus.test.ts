import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { corpus, type Hostile } from './corpus.ts';
import { createMaterial, type Material } from './fixture.ts';

let material: Material;
beforeAll(async () => {
  material = await createMaterial({}, { limits: { files_per_day: 2000 } });
});
afterAll(() => material.close());

test('PUT, commit and link refuse every file of the corpus, and store none', async () => {
  const owner = await material.owner();
  const link = await material.link(owner, owner.siteId, { max_files: 1 });
  const before = await material.objects(owner.siteId);
  const wrong: string[] = [];
  // Each goes one way over the wire, and its verdict is the one of all ways.
  const ways = [
    ({ path, bytes }: Hostile) => material.put(owner, owner.siteId, path, bytes),
    ({ path, bytes }: Hostile) => {
      const changes = [{ path, base64: bytes.toString('base64') }];
      return owner.call('POST', `/v1/sites/${owner.siteId}/commits`, { body: { message: 'x', changes } });
    },
    ({ is, path, bytes }: Hostile) =>
      material.send(link, path.split('/').at(-1) ?? '', isRenamed(is) ? Buffer.alloc(9, is) : bytes),
  ];
  const left = corpus.entries();
  async function send(): Promise<void> {
    for (const [n, one] of left) {
      const answer = await (ways[n % 3] as (typeof ways)[0])(one);
      const code = answer.status === 200 ? 'taken' : errorOf(answer).code;
      if (code !== 'format_not_allowed' && code !== 'invalid_file') wrong.push(`${one.is}: ${code}`);
    }
  }
  await Promise.all([send(), send(), send(), send()]);
  expect(wrong).toEqual([]);
  expect(await material.objects(owner.siteId)).toEqual(before);
  expect(await material.usedToday(owner)).toBe(0);
}, 240_000);

/** A link gives a good picture its right name, so that one under another's name is no harm there. */
const isRenamed = (is: string) => / called (a\.|public)/.test(is);
