import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { download } from '#tools/local/services/temporal-cli.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'frontage-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Serves an archive with these files under every path, for as long as `use` takes. */
async function serving<T>(
  files: Record<string, string>,
  use: (from: string, asked: string[]) => Promise<T>,
): Promise<T> {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) tar.entry({ name, mode: 0o644 }, content);
  tar.finalize();
  const archive = await buffer(tar.pipe(createGzip()));
  const asked: string[] = [];
  const server = createServer((request, answer) => {
    asked.push(request.url ?? '');
    answer.end(archive);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/cli`, asked);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('the CLI in the archive is unpacked, ready to run', async () => {
  const files = { LICENSE: 'free', temporal: '#!/bin/sh\necho it runs' };
  await serving(files, async (from, asked) => {
    const cli = await download(folder, () => {}, from);
    expect(execFileSync(cli ?? '', { encoding: 'utf8' })).toBe('it runs\n');
    expect(asked[0]).toMatch(new RegExp(`^/cli/v[0-9.]+\\?platform=${process.platform}&arch=(amd64|arm64)$`));
  });
});

test('an archive without the CLI, or no server, gives no CLI', async () => {
  const from = await serving({ LICENSE: 'free' }, async (from) => {
    expect(await download(folder, () => {}, from)).toBeUndefined();
    return from;
  });
  expect(await download(folder, () => {}, from)).toBeUndefined();
});
