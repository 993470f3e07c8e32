/** The framework's caches: data that comes out of hostile code and goes back to it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openOutput } from '#providers/sandbox/output.ts';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { type Asked, build, openKind, roomy, type Site, siteThatRuns } from './fixture.ts';
import { describeFirst } from './kinds.ts';
import { type TarEntry, tarOf } from './tar.ts';

const photo = readFileSync(join(import.meta.dirname, '../../providers/sandbox/image/rehearsal/src/photo.jpg'));
const withPhoto: Site = {
  'src/photo.jpg': photo,
  'src/pages/index.astro':
    "---\nimport { Image } from 'astro:assets';\nimport photo from '../photo.jpg';\n---\n<Image src={photo} alt='' />",
};

/** Builds, and answers what it left as well. */
async function buildAndKeep(sandbox: Sandbox, files: Site, asked: Asked = {}) {
  let kept: Buffer | undefined;
  const onCache = async (content: Readable) => {
    kept = await buffer(content);
  };
  return { ...(await build(sandbox, files, { onCache, ...asked })), kept };
}

async function namesIn(tar: Buffer | undefined): Promise<string[]> {
  const names: string[] = [];
  if (!tar) return names;
  for await (const entry of Readable.from([tar]).pipe(extract())) {
    names.push(`${entry.header.type} ${entry.header.name}`);
    entry.resume();
  }
  return names;
}

describeFirst((kind) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openKind(kind);
  }, 300_000);
  afterAll(() => sandbox?.close());
  const slow = { timeout: 120_000 };
  let kept: ReturnType<typeof buildAndKeep> | undefined;
  const first = () => (kept ??= buildAndKeep(sandbox, withPhoto));

  test('a site’s next build reuses its pictures, and sends no file again', slow, async () => {
    const { outcome, files, kept } = await first();
    expect(outcome).toEqual({ status: 'built' });
    const { 'index.html': home, ...others } = Object.fromEntries(files);
    const sha256 = createHash('sha256')
      .update(home as Buffer)
      .digest('hex');
    const named: unknown[] = [];
    const next = await buildAndKeep(sandbox, withPhoto, {
      cache: Readable.from([kept as Buffer]),
      held: Promise.resolve(new Map([[sha256, home?.length ?? 0]])),
      onHeld: (file) => void named.push(file),
    });
    expect(next.log).toContain('reused cache entry');
    expect(named).toEqual([{ path: 'index.html', sha256 }]);
    expect(Object.fromEntries(next.files)).toEqual(others);
  });

  test('an unreadable cache is ignored', slow, async () => {
    for (const spoilt of [Buffer.alloc(1_048_576, 'x'), (await first()).kept?.subarray(0, 700)]) {
      const { outcome, log } = await build(sandbox, withPhoto, { cache: Readable.from([spoilt as Buffer]) });
      expect(outcome).toEqual({ status: 'built' });
      expect(log).not.toContain('reused cache entry');
    }
  });

  test('links and pipes in caches are dropped', slow, async () => {
    const hostile = siteThatRuns(
      `import fs from 'node:fs'; import { execPath } from 'node:process';
       fs.mkdirSync('/tmp/cache/astro/x', { recursive: true });
       fs.symlinkSync('/etc/passwd', '/tmp/cache/astro/x/link'); fs.writeFileSync('/tmp/cache/astro/x/plain', 'p');`,
    );
    const { outcome, kept } = await buildAndKeep(sandbox, hostile);
    expect(outcome).toEqual({ status: 'built' });
    const names = await namesIn(kept);
    expect(names).toContain('file astro/x/plain');
    expect(names.join()).not.toContain('link');
  });

  test('a failed build leaves no cache', slow, async () => {
    let handedOver = false;
    const onBuilt = async () => {
      handedOver = true;
    };
    const { outcome, kept } = await buildAndKeep(sandbox, siteThatRuns("throw new Error('no');"), { onBuilt });
    expect(outcome).toMatchObject({ status: 'failed' });
    expect([kept, handedOver]).toEqual([undefined, false]);
  });
});

const built = { name: 'verdict.json', content: '{"status":"built"}' };
const end = { name: 'end', content: '' };

async function passed(entries: TarEntry[], folder?: string) {
  const output = openOutput(tarOf([built, ...entries]), roomy);
  await output.readFiles({ onFile: async () => {} });
  let kept: Promise<Buffer> | undefined;
  const ended = await output
    .readCache((content) => {
      kept = buffer(content);
      return kept.then(() => {});
    }, folder)
    .catch((error) => error);
  return { ended, kept: await kept?.catch((error) => error) };
}

test('caches are repacked without their writer’s metadata', async () => {
  const { ended, kept } = await passed([{ name: 'cache/astro/a.json', content: '{}', mode: 0o4777, uid: 0 }, end]);
  expect(ended).toBeUndefined();
  expect(await namesIn(kept)).toEqual(['file astro/a.json']);
});

test('of the caches of drafts, only the folder of pictures is forwarded', async () => {
  const text = { name: 'cache/astro/data-store.json', content: 'secret plans' };
  const { kept } = await passed(
    [text, { name: 'cache/astro/assets/a.webp', content: 'a' }, text, end],
    'astro/assets/',
  );
  expect(await namesIn(kept)).toEqual(['file astro/assets/a.webp']);
  expect(await passed([text, end], 'astro/assets/')).toEqual({ ended: undefined, kept: undefined });
});

test.each<TarEntry>([
  { name: 'cache/../../passwd', content: 'x' },
  { name: '/cache/passwd', content: 'x' },
  { name: 'dist/index.html', content: 'x' },
  { name: 'cache/link', type: 'symlink', linkname: '/etc/passwd' },
  { name: 'cache/device', type: 'character-device' },
])('a cache with $name is discarded completely', async (hostile) => {
  const { ended, kept } = await passed([{ name: 'cache/good', content: 'x' }, hostile, end]);
  expect(ended).toBeInstanceOf(Error);
  expect(kept).toBeInstanceOf(Error);
});

test('a cache refused at its first entry is not forwarded, and ends no process', async () => {
  const { ended, kept } = await passed([{ name: 'cache/../../passwd', content: 'x' }, end]);
  expect([ended instanceof Error, kept]).toEqual([true, undefined]);
});

test('a cache whose reader breaks off ends no process', async () => {
  const many = Array.from({ length: 200 }, (_, at) => ({ name: `cache/${at}`, content: 'x'.repeat(5_000) }));
  const output = openOutput(tarOf([built, ...many, end]), roomy);
  await output.readFiles({ onFile: async () => {} });
  const reading = output.readCache(async (content) => {
    for await (const _ of content) throw new Error('the disk is full');
  });
  await expect(reading).rejects.toThrow();
});

test('a truncated cache is discarded', async () => {
  const { ended, kept } = await passed([{ name: 'cache/good', content: 'x' }]);
  expect([ended instanceof Error, kept instanceof Error]).toEqual([true, true]);
});

test('an unoffered hash gives access to no bytes', async () => {
  const tar = tarOf([{ name: 'held.json', content: JSON.stringify([['dist/stolen', 'a'.repeat(64)]]) }, built]);
  const named: unknown[] = [];
  const held = Promise.resolve(new Map([['b'.repeat(64), 1]]));
  const reading = openOutput(tar, roomy).readFiles({
    onFile: async () => {},
    onHeld: (file) => void named.push(file),
    held,
  });
  await expect(reading).rejects.toMatchObject({ code: 'build_failed' });
  expect(named).toEqual([]);
});
