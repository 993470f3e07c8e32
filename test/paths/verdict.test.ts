/** One verdict on a path, whichever way it comes in. */
import { posix, win32 } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servedPathError } from '#api/output/paths.ts';
import { hrefOf, readTarget } from '#edge/routing/paths.ts';
import { outputFault, sourceFault } from '#providers/paths.ts';
import { OutputRefused, openOutput } from '#providers/sandbox/output.ts';
import type { BuildRequest } from '#providers/sandbox/sandbox.ts';
import { sized } from '#test/campaigns/size.ts';
import { ask, createFixture, type Fixture } from '#test/edge/fixture.ts';
import { hostilePaths } from '#test/output/hostile-paths.ts';
import { roomy } from '#test/sandbox/fixture.ts';
import { tarOf } from '#test/sandbox/tar.ts';
import { corpus, type Sample } from './corpus.ts';

test('the list has more than 300 refused paths without duplicates', () => {
  const hostile = corpus.filter(({ source, output }) => source !== 'taken' || output !== 'taken');
  expect(hostile.length).toBeGreaterThan(300);
  const keys = corpus.map(({ path, raw }) => JSON.stringify([path, raw?.toString('hex')]));
  expect(new Set(keys).size).toBe(keys.length);
});

test('the module agrees with the list on each path', () => {
  const said = corpus.map(({ path }) => [path, sourceFault(path)?.code ?? 'taken', outputFault(path)?.code ?? 'taken']);
  expect(said).toEqual(corpus.map(({ path, source, output }) => [path, source, output]));
});

test('a manifest follows the verdict, and stricter rules', () => {
  const named = [...corpus.map(({ path }) => path), ...hostilePaths];
  const taken = named.filter((path) => !servedPathError(path));
  expect(taken.filter((path) => outputFault(path))).toEqual([]);
  expect(hostilePaths.filter((path) => !outputFault(path)).length).toBeGreaterThan(100);
});

test('an asset under any of these names follows the verdict', () => {
  const beginsTheSite = ({ path }: Sample) => /^[a-z]:/i.test(path) || Buffer.byteLength(path) > 1000;
  for (const sample of corpus.filter((one) => !beginsTheSite(one))) {
    expect([sample.path, sourceFault(`src/assets/${sample.path}`)?.code ?? 'taken']).toEqual([
      sample.path,
      sample.source,
    ]);
  }
});

test('a build may write allowed paths alone', async () => {
  // A tar's own names end at a NUL.
  for (const { path, output } of corpus.filter((sample) => !sample.path.includes('\0'))) {
    const tar = tarOf([
      { name: `dist/${path}`, type: 'file', content: 'x' },
      { name: 'verdict.json', content: '{"status":"built"}' },
    ]);
    const files: string[] = [];
    const onFile: BuildRequest['onFile'] = async (file) => {
      files.push(file.path);
      file.content.resume();
    };
    const ended = await openOutput(tar, roomy)
      .readFiles({ onFile })
      .catch((error: unknown) => error);
    expect([path, files]).toEqual([path, output === 'taken' ? [path] : []]);
    if (output !== 'taken') expect(ended).toBeInstanceOf(OutputRefused);
  }
});

describe('a manifest with all these names', () => {
  let fixture: Fixture;
  let port: number;
  beforeAll(async () => {
    fixture = await createFixture();
    await fixture.publish('all', Object.fromEntries(corpus.map(({ path }, index) => [path, `file ${index}.`])));
    ({ port } = await fixture.openEdge());
  });
  afterAll(() => fixture?.close());

  const href = ({ path, raw }: Sample) =>
    raw ? `/${[...raw].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}` : hrefOf(path);

  test('is served where allowed, and nowhere else', async () => {
    for (const [index, sample] of corpus.entries()) {
      if (!sample.path.isWellFormed()) continue;
      const { status, text } = await ask(port, href(sample), { host: 'all.sites.test' });
      const own = text === `file ${index}.`;
      const seen = [sample.path, own, own ? status === 200 : [200, 308, 400, 404].includes(status)];
      expect(seen).toEqual([sample.path, sample.output === 'taken', true]);
    }
  });
});

const piece = fc.oneof(
  fc.constantFrom(
    ...[
      '.',
      '..',
      '/',
      '//',
      '\\',
      ':',
      'C:',
      '.git',
      'git~1',
      'a',
      'index.html',
      'package.json',
      '%2e',
      '\0',
      '\n',
      '~',
      ' ',
      '\u200c',
      '\ufffd',
      '\ud800',
      '\uff0f',
    ],
  ),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.string({ unit: 'grapheme', maxLength: 4 }),
);
const anyPath = fc.oneof(
  fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join('')),
  fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('/')),
);
const runs = sized({ one: 3_000, short: 10_000, long: 100_000 });

test(`of ${runs} random paths, no allowed one leaves its folder`, () => {
  let taken = 0;
  const inside = (path: string) => {
    expect(posix.resolve('/sites/one', path)).toBe(`/sites/one/${path}`);
    expect(win32.resolve('C:\\sites\\one', path)).toBe(`C:\\sites\\one\\${path.replaceAll('/', '\\')}`);
    expect(readTarget(hrefOf(path))?.path).toBe(path);
    expect(new URL(hrefOf(path), 'http://one.sites.test').host).toBe('one.sites.test');
    expect(path.split('/').map((segment) => segment.toLowerCase())).not.toContain('.git');
    expect(Buffer.from(path).toString('utf8')).toBe(path);
  };
  fc.assert(
    fc.property(anyPath, (path) => {
      if (outputFault(path) === undefined) {
        taken += 1;
        inside(path);
      } else {
        // A source takes nothing that an output does not.
        expect(sourceFault(path)).toBeDefined();
      }
    }),
    { numRuns: runs },
  );
  expect(taken).toBeGreaterThan(runs / 50);
});
