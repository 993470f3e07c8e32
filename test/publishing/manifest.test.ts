import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { diffManifests, parseManifest, renderManifest } from '#providers/manifest.ts';

const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test('a manifest is independent of file order, and is read back unchanged', () => {
  const files = [
    { path: 'b.html', sha256: sha(Buffer.from('b')), bytes: 1 },
    { path: 'a}\n{.html', sha256: sha(Buffer.from('a')), bytes: 1, encodings: ['br' as const] },
  ];
  const manifest = renderManifest(files);
  expect(renderManifest([...files].reverse())).toEqual(manifest);
  expect(parseManifest(manifest)).toEqual([files[1], files[0]]);
  expect(parseManifest(renderManifest([]))).toEqual([]);
});

test('the difference of manifests lists added, modified and removed files', () => {
  const file = (path: string, content: string) => ({ path, sha256: sha(Buffer.from(content)), bytes: content.length });
  const changes = diffManifests(
    [file('a', '1'), file('b', '1'), file('c', '1')],
    [file('a', '1'), file('b', '2'), file('d', '1')],
  );
  const paths = Object.fromEntries(
    Object.entries(changes).map(([kind, files]) => [kind, files.map((one: { path: string }) => one.path)]),
  );
  expect(paths).toEqual({ added: ['d'], modified: ['b'], removed: ['c'] });
});
