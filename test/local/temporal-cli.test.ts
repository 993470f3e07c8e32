import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { findTemporal } from '#tools/local/services/temporal-cli.mjs';

let folder: string;
let cache: string;
const archive = await archiveOf({ LICENSE: 'free'.repeat(200), temporal: '#!/bin/sh\necho temporal version 1.5.1' });
const sha256 = createHash('sha256').update(archive).digest('hex');

/** A machine with an empty cache, and neither Temporal nor Go on PATH. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'frontage-cli-'));
  cache = join(folder, 'cache');
  mkdirSync(join(folder, 'bin'));
  vi.stubEnv('PATH', join(folder, 'bin'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

async function archiveOf(files: Record<string, string>): Promise<Buffer> {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) tar.entry({ name, mode: 0o644 }, content);
  tar.finalize();
  return await buffer(tar.pipe(createGzip()));
}

/** An address that answers like this until the test's end. */
async function serve(listener: RequestListener): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/temporal.tar.gz`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const sending = () => serve((_request, answer) => answer.end(archive));

function program(name: string, script: string): void {
  const file = join(folder, 'bin', name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

function find(from: string[], more: { log?: (line: string) => void; signal?: AbortSignal; sha256?: string } = {}) {
  return findTemporal(more.log ?? (() => {}), { cache, from, sha256, limitMs: 2_000, ...more });
}

test('the CLI of the archive is unpacked, and kept unless it is damaged', async () => {
  await using server = await sending();
  const cli = await find([server.url]);
  expect(execFileSync(cli, { encoding: 'utf8' })).toBe('temporal version 1.5.1\n');
  expect(await find([])).toBe(cli);
  writeFileSync(cli, 'half of it');
  expect(execFileSync(await find([server.url]), { encoding: 'utf8' })).toBe('temporal version 1.5.1\n');
  expect(readdirSync(cache)).toHaveLength(1);
});

test('an address that sends another file is left for the next one', async () => {
  const other = await archiveOf({ temporal: 'echo it is evil' });
  await using first = await serve((_request, answer) => answer.end(other));
  await using second = await sending();
  expect(execFileSync(await find([first.url, second.url]), { encoding: 'utf8' })).toBe('temporal version 1.5.1\n');
});

test('an archive without the CLI is refused with what to do, and leaves nothing', async () => {
  const other = await archiveOf({ LICENSE: 'free' });
  await using server = await serve((_request, answer) => answer.end(other));
  const digest = createHash('sha256').update(other).digest('hex');
  await expect(find([server.url], { sha256: digest })).rejects.toThrow(
    'The archive of the Temporal CLI does not contain it. Put `temporal` on PATH instead.',
  );
  expect(readdirSync(cache)).toEqual([]);
});

test('an address that sends nothing, or stops midway, is left for the next', async () => {
  await using silent = await serve(() => {});
  await using stops = await serve((_request, answer) => {
    answer.writeHead(200, { 'content-length': archive.length });
    answer.write(archive.subarray(0, 50));
  });
  await using good = await sending();
  const log: string[] = [];
  const cli = await find([silent.url, stops.url, good.url], { log: (line) => log.push(line) });
  expect(execFileSync(cli, { encoding: 'utf8' })).toBe('temporal version 1.5.1\n');
  expect(log).toContainEqual(expect.stringMatching(/^downloading the Temporal CLI: \d+/));
});

test('without Temporal, a download and Go, one sentence names three ways out', async () => {
  await using wrong = await serve((_request, answer) => answer.writeHead(404).end());
  const gone = await serve(() => {});
  await gone[Symbol.asyncDispose]();
  await expect(find([wrong.url, gone.url])).rejects.toThrow(
    'The Temporal CLI is missing: it could not be downloaded (127.0.0.1: status 404; 127.0.0.1: ECONNREFUSED), and Go is not installed. ' +
      'Put `temporal` on PATH, or allow downloads from temporal.download, or install Go 1.24 or newer.',
  );
  expect(readdirSync(cache)).toEqual([]);
});

test('Go builds what cannot be downloaded, and its failure is named', async () => {
  program('go', `[ "$1" = install ] && echo '#!/bin/sh' > "$GOBIN/temporal" && /bin/chmod +x "$GOBIN/temporal"`);
  expect(execFileSync(await find([]), { encoding: 'utf8' })).toBe('');
  rmSync(cache, { recursive: true });
  program('go', 'echo half > "$GOBIN/temporal"; echo "go: the disk is full" >&2; exit 1');
  await expect(find([])).rejects.toThrow('Go could not build it (go: the disk is full)');
  expect(readdirSync(cache)).toEqual([]);
});

test('an interrupted download leaves nothing behind', async () => {
  const stopping = new AbortController();
  await using silent = await serve(() => stopping.abort());
  await expect(find([silent.url], { signal: stopping.signal })).rejects.toThrow('aborted');
  expect(readdirSync(cache)).toEqual([]);
});

test('Temporal on PATH is used, another program of that name is not', async () => {
  program('temporal', 'echo "a clock"');
  await using server = await sending();
  expect(await find([server.url])).toContain(cache);
  program('temporal', 'echo "temporal version 1.5.1"');
  expect(await find([])).toBe(join(folder, 'bin', 'temporal'));
});
