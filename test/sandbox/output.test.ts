import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { OutputRefused, openOutput } from '#providers/sandbox/output.ts';
import type { BuildRequest } from '#providers/sandbox/sandbox.ts';
import { roomy } from './fixture.ts';
import { type TarEntry, tarOf } from './tar.ts';

const readOutput = (tar: Readable, limits: typeof roomy, onFile: BuildRequest['onFile']) =>
  openOutput(tar, limits).readFiles({ onFile });

const built = { name: 'verdict.json', content: '{"status":"built"}' };

async function read(entries: TarEntry[], limits = roomy) {
  const files: string[] = [];
  const verdict = await readOutput(tarOf([...entries, built]), limits, async ({ path, content }) => {
    files.push(path);
    content.resume();
  });
  return { verdict, files };
}

test('regular files are read in order, one at a time', async () => {
  let open = 0;
  const seen: string[] = [];
  const tar = tarOf([
    { name: 'dist', type: 'directory' },
    { name: 'dist/a.txt', content: 'a' },
    { name: 'dist/ü ber/%20.html', content: 'b'.repeat(200_000) },
    { name: 'dist/empty', content: '' },
    built,
  ]);
  await readOutput(tar, roomy, async ({ path, bytes, content }) => {
    expect(++open).toBe(1);
    expect((await buffer(content)).length).toBe(bytes);
    open -= 1;
    seen.push(`${path} ${bytes}`);
  });
  expect(seen).toEqual(['a.txt 1', 'ü ber/%20.html 200000', 'empty 0']);
});

const names = [
  '../passwd',
  'dist/../passwd',
  '/etc/passwd',
  'dist//passwd',
  'dist/./passwd',
  'dist/a/..',
  'dist/a\\b',
  'dist/a\nb',
  'dist/a\u0007b',
  'dist/a\u007fb',
  'dist/\ufffd',
  'distant/file',
  `dist/${'x'.repeat(256)}`,
  `dist/${'x/'.repeat(520)}y`,
];

test.each(names)('a file named %j is refused', async (name) => {
  const error = await read([{ name, content: 'x' }]).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(OutputRefused);
  expect(error).toMatchObject({
    code: 'build_failed',
    message: expect.stringContaining('The build wrote a file named'),
  });
});

const kinds = ['symlink', 'link', 'fifo', 'block-device', 'character-device'] as const;

test.each(kinds)('a %s is refused by its name', async (type) => {
  const entry = { name: 'dist/leak.txt', type, linkname: '/etc/passwd' };
  await expect(read([{ name: 'dist/a', content: 'a' }, entry])).rejects.toMatchObject({
    code: 'build_failed',
    message: expect.stringContaining(`leak.txt, which is a ${type}, not a regular file`),
  });
});

/** The header of a tar, claiming another length. */
function claiming(header: Buffer, bytes: number): Buffer {
  const changed = Buffer.from(header);
  changed.write(`${bytes.toString(8).padStart(11, '0')} `, 124);
  changed.fill(' ', 148, 156);
  const sum = changed.reduce((all, byte) => all + byte, 0);
  changed.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return changed;
}

test('malformed headers are the site’s fault, without a retry', async () => {
  const strange = await buffer(tarOf([{ name: 'dist/a', content: 'a', pax: { size: 'much' } }]));
  const endless = claiming(strange.subarray(0, 512), 8 ** 11 - 1);
  for (const forged of [strange, endless, Buffer.alloc(1_024, 'z')]) {
    const reading = readOutput(Readable.from([forged, Buffer.alloc(1_024)]), roomy, async () => {});
    await expect(reading).rejects.toMatchObject({ code: 'build_failed' });
  }
});

test('endless headers are not read to their end', async () => {
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  const record = await buffer(tarOf([{ name: 'dist/a', content: '', pax: { words: 'y'.repeat(900) } }]));
  const headers = record.subarray(0, record.length - 3 * 512);
  const endless = Readable.from(
    (function* () {
      let bytes = 0;
      try {
        for (; bytes < 50_000_000; bytes += headers.length) yield headers;
      } finally {
        resolve(bytes);
      }
    })(),
  );
  await expect(readOutput(endless, roomy, async () => {})).rejects.toMatchObject({ code: 'build_failed' });
  expect(await ended).toBeLessThan(2_000_000);
});

test('many small files or one of any size need bounded memory', async () => {
  const many = Array.from({ length: 1_900 }, (_, n) => ({ name: `dist/${'long/'.repeat(150)}${n}`, content: 'x' }));
  const large = { name: 'dist/large', content: 'x'.repeat(9_000_000) };
  expect((await read([...many, large])).files).toHaveLength(1_901);
});

test('the same path twice is refused', async () => {
  const twice = read([
    { name: 'dist/a', content: '1' },
    { name: 'dist/a', content: '2' },
  ]);
  await expect(twice).rejects.toMatchObject({ code: 'build_failed', message: expect.stringContaining('twice') });
});

test('each limit is enforced, and the message names it', async () => {
  const files = ['a', 'b', 'c'].map((name) => ({ name: `dist/${name}`, content: 'x'.repeat(1_000) }));
  const folders = ['a', 'b', 'c'].map((name) => ({ name: `dist/${name}`, type: 'directory' as const }));
  const refusal = (message: RegExp) => ({ code: 'plan_limit', message: expect.stringMatching(message) });
  await expect(read(files, { ...roomy, outputFilesMax: 2 })).rejects.toMatchObject(
    refusal(/more files than the limit \(2\)/),
  );
  await expect(read(folders, { ...roomy, outputFilesMax: 2 })).rejects.toMatchObject(
    refusal(/more files than the limit \(2\)/),
  );
  await expect(read(files, { ...roomy, fileBytesMax: 999 })).rejects.toMatchObject(refusal(/a exceeds .*999 bytes/));
  await expect(read(files, { ...roomy, outputBytesMax: 2_999 })).rejects.toMatchObject(refusal(/site .*2999 bytes/));
  await expect(
    read(files, { ...roomy, outputFilesMax: 3, fileBytesMax: 1_000, outputBytesMax: 3_000 }),
  ).resolves.toEqual({
    verdict: { status: 'built', ms: {} },
    files: ['a', 'b', 'c'],
  });
});

test('a truncated output is no output, and its last file is never complete', async () => {
  const whole = await buffer(tarOf([{ name: 'dist/a', content: 'x'.repeat(5_000) }]));
  const opened = Promise.withResolvers<void>();
  const cut = Readable.from(
    (async function* () {
      yield whole.subarray(0, 3_000);
      await opened.promise;
    })(),
  );
  let came: unknown;
  const reading = readOutput(cut, roomy, async ({ content }) => {
    opened.resolve();
    came = await buffer(content).catch(() => 'broken');
  });
  await expect(reading).rejects.toThrow('Unexpected end of data');
  expect(came).toBe('broken');
});

test('an output without a verdict is no output', async () => {
  const reading = readOutput(
    tarOf([{ name: 'dist/a', content: 'a' }]),
    roomy,
    async ({ content }) => void content.resume(),
  );
  await expect(reading).rejects.toThrow('without a result');
});

test('a malformed verdict is refused', async () => {
  const reading = readOutput(tarOf([{ name: 'verdict.json', content: '{"status":"live"}' }]), roomy, async () => {});
  await expect(reading).rejects.toMatchObject({ code: 'build_failed' });
});

test('an output that is not a tar is the site’s fault', async () => {
  const nonsense = Readable.from([Buffer.alloc(2_048, 'nonsense')]);
  await expect(readOutput(nonsense, roomy, async () => {})).rejects.toMatchObject({ code: 'build_failed' });
});

test('the runner reads a file to its end that one call returns in part', { tags: 'bubblewrap' }, () => {
  // Linux returns at most a page of it at a time. This process has too many, so another reads its own.
  const runner = join(import.meta.dirname, '../../providers/sandbox/image/runner/output.mjs');
  const script = `import { readPlain } from '${runner}'; console.log(readPlain('/proc/self/maps').length)`;
  const length = execFileSync(process.execPath, ['--input-type=module', '-e', script]);
  expect(Number(length)).toBeGreaterThan(4_096);
});
