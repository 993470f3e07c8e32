/** Archives whose repositories somebody else has written. */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Repository } from '#rules/states.ts';
import { type AnyFile, commitTree, folder, git, writeTree } from '#test/git/git.ts';
import { type Entry, withDocument } from './fixture.ts';

/** The same archive with one more commit on main of a repository: these files as well, or in place of those that were there. */
export async function withFiles(
  entries: readonly Entry[],
  repository: Repository,
  files: readonly AnyFile[],
): Promise<Entry[]> {
  await using clone = await folder();
  const name = `${repository}.pack`;
  const pack = entries.find((entry) => entry.name === name)?.bytes ?? Buffer.alloc(0);
  const main = refsOf(entries, repository)['refs/heads/main'] as string;
  await git(clone.path, ['init', '--quiet']);
  await git(clone.path, ['unpack-objects', '-q'], pack);
  const listed = await git(clone.path, ['ls-tree', '-r', '-z', main]);
  const there = listed
    .split('\0')
    .filter(Boolean)
    .map((line): AnyFile => {
      const [facts = '', path = ''] = line.split('\t');
      const [mode = '', , oid = ''] = facts.split(' ');
      return { path, mode, oid };
    });
  const kept = there.filter(({ path }) => !files.some((file) => file.path === path));
  const commit = await commitTree(clone.path, await writeTree(clone.path, [...kept, ...files]), [main]);
  const bytes = await packed(clone.path, commit);
  return withDocument(
    entries.map((entry) => (entry.name === name ? { ...entry, bytes } : entry)),
    ({ repositories }) => {
      repositories[repository] = {
        pack: createHash('sha256').update(bytes).digest('hex'),
        refs: { 'refs/heads/main': commit },
      };
    },
  );
}

function refsOf(entries: readonly Entry[], repository: Repository): Record<string, string> {
  const document = entries.find(({ name }) => name === 'site.json');
  return JSON.parse(String(document?.bytes)).repositories[repository].refs;
}

async function packed(clone: string, commit: string): Promise<Buffer> {
  const child = spawn('git', ['pack-objects', '--revs', '--stdout', '--quiet'], { cwd: clone });
  child.stdin.end(`${commit}\n`);
  return await buffer(child.stdout);
}

/**
 * A way to the database that breaks once: as the client's first `commit` comes by (`before`: the database never hears of it), or as the database has
 * done it (`after`: the client never hears of that).
 */
export async function openBreaking(databaseUrl: string, when: 'before' | 'after') {
  const url = new URL(databaseUrl);
  const database = { host: url.hostname, port: Number(url.port || 5432) };
  const sockets = new Set<Socket>();
  let breaks = 0;
  const server = createServer((client) => {
    const far = connect(database);
    for (const socket of [client, far]) sockets.add(socket.on('error', () => {}));
    let isCommitting = false;
    const cut = () => {
      breaks += 1;
      client.destroy();
      far.destroy();
    };
    client.on('data', (bytes) => {
      if (breaks === 0 && bytes.includes('commit\0')) {
        if (when === 'before') return cut();
        isCommitting = true;
      }
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (isCommitting && breaks === 0) return cut();
      client.write(bytes);
    });
    client.once('close', () => far.destroy());
    far.once('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    breaks: () => breaks,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
