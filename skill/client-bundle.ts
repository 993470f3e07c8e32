/** The terminal client as one file: its modules, bundled when first needed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** Path of the client in the skill tree. */
export const clientPath = 'bin/frontage.mjs';

let bundled: string | undefined;

/** The text of the client, with `{base_url}` still in it. It runs on Node 20 without packages. */
export function bundleClient(): string {
  bundled ??= bundle(join(import.meta.dirname, clientPath));
  return bundled;
}

function bundle(entry: string): string {
  const [header = ''] = /^\/\*\*.*?\*\//ms.exec(readFileSync(entry, 'utf8')) ?? [];
  const { outputFiles } = buildSync({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    charset: 'utf8',
    banner: { js: header },
    logLevel: 'silent',
  });
  const [file] = outputFiles;
  if (!file) throw new Error('esbuild wrote no client.');
  return file.text;
}
