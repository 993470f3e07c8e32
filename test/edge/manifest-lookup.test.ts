/** A search in the stored lines of a manifest finds what reading all of them would. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ManifestFile, parseManifest, renderManifest } from '#providers/manifest.ts';
import { lookUpManifest } from '#providers/manifest-lookup.ts';

const file = (path: string): ManifestFile => ({ path, sha256: 'a'.repeat(64), bytes: path.length });
const name = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
  fc.constantFrom(
    'index.html',
    'a',
    'a/b',
    'a.html',
    '"',
    '\\',
    '\\"',
    '\u2028',
    '\ue000',
    '\u{1f600}',
    '","sha256":"',
  ),
);

test('lookups match a plain search for any path', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 30 }), name, (paths, other) => {
      const manifest = renderManifest(paths.map(file));
      const files = new Map(parseManifest(manifest).map((one) => [one.path, one]));
      const lookup = lookUpManifest(manifest);
      for (const path of [...paths, other, '']) expect(lookup.get(path)).toEqual(files.get(path));
      const begins = [...files.values()].filter((one) => one.path.startsWith(other));
      expect([...lookup.within(other)]).toEqual(begins);
      expect([...lookup.within('')]).toEqual([...files.values()]);
    }),
    { numRuns: 2_000 },
  );
});

test('a manifest of 25,000 files is ready much faster than reading it takes', () => {
  const manifest = renderManifest(Array.from({ length: 25_000 }, (_, n) => file(`blog/${n}/index.html`)));
  const shortest = (work: () => unknown) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const began = performance.now();
        work();
        return performance.now() - began;
      }),
    );
  expect(shortest(() => lookUpManifest(manifest))).toBeLessThan(shortest(() => parseManifest(manifest)) / 3);
});

test.each([
  ['no lines', 'not a manifest'],
  ['other lines', 'a\nb\n'],
  ['a truncated line', `${renderManifest([file('a'), file('b')])}{"path":"c","sha`],
  ['a first line without a hash', '{"path":"a","sha256":"../../secret","bytes":1}\n'],
])('a file with %s is not a manifest', (_what, text) => {
  expect(() => lookUpManifest(Buffer.from(text))).toThrow();
});

test('an empty site has no files', () => {
  expect(lookUpManifest(renderManifest([])).get('index.html')).toBeUndefined();
});
