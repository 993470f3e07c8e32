import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkContent } from '#git/rules.ts';
import { errorOf } from '#test/api/fixture.ts';
import { corpus, type Hostile, whole } from './corpus.ts';
import { createMaterial, type Material } from './fixture.ts';

let material: Material;
beforeAll(async () => {
  material = await createMaterial({}, { limits: { files_per_day: 2000 } });
});
afterAll(() => material.close());

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('the corpus is large, without duplicates', () => {
  expect(corpus.length).toBeGreaterThan(300);
  expect(new Set(corpus.map(({ is }) => is)).size).toBe(corpus.length);
});

test.each(Object.entries(whole))('a complete file of each format is accepted: %s', async (name, bytes) => {
  const path = name.startsWith('public/') ? name : `src/assets/${name}`;
  for (const size of [1, 7, 65_536]) expect(await checkContent('source', path, inPieces(bytes, size))).toBeUndefined();
});

test('every file of the corpus is refused, in whatever pieces it arrives', async () => {
  const taken: string[] = [];
  for (const { is, path, bytes } of corpus) {
    const verdicts = [];
    for (const size of [bytes.length > 10_000 ? 4096 : 1, 65_536]) {
      const verdict = await checkContent('source', path, inPieces(bytes, size));
      verdicts.push(verdict?.code);
    }
    if (!verdicts.every((code) => code === 'format_not_allowed' || code === 'invalid_file'))
      taken.push(`${is}: ${verdicts}`);
    if (verdicts[0] !== verdicts[1]) taken.push(`${is}: in pieces ${verdicts[0]}, whole ${verdicts[1]}`);
  }
  expect(taken).toEqual([]);
});

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
  expect(material.unexpected()).toEqual([]);
}, 240_000);

/** A link gives a good picture its right name, so that one under another's name is no harm there. */
const isRenamed = (is: string) => / called (a\.|public)/.test(is);
