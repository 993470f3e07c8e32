/** The scripts that a form's pages and a site's pages load from us: read once, compressed once, told apart by their bytes. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

export type ServedFile = { bytes: Buffer; gzip: Buffer; etag: string; type: string };

const scripts = 'text/javascript; charset=utf-8';
const styles = 'text/css; charset=utf-8';

const altcha = (path: string): string => fileURLToPath(new URL(path, import.meta.resolve('altcha/external')));

const ours = (path: string): string => fileURLToPath(new URL(`../../web/${path}`, import.meta.url));

/** What pages of sites load, by their paths. These never change, so each is asked for anew after some minutes. */
export const widget = {
  '/f/widget.js': read(ours('form-widget.js'), scripts),
  '/f/widget.css': read(ours('form-widget.css'), styles),
} as const;

const named = [
  ['script', read(altcha('altcha.min.js'), scripts), 'altcha', 'js'],
  ['worker', read(altcha('../workers/pbkdf2.js'), scripts), 'altcha-worker', 'js'],
  ['style', read(altcha('altcha.css'), styles), 'altcha', 'css'],
] as const;

/** Files that never change, under a name that holds their hash. */
export const hashed: ReadonlyMap<string, ServedFile> = new Map(
  named.map(([, file, stem, ending]) => [nameOf(file, stem, ending), file]),
);

/** Paths of what a page with the challenge needs. */
export const widgetFiles = Object.fromEntries(
  named.map(([part, file, stem, ending]) => [part, `/f/files/${nameOf(file, stem, ending)}`]),
) as { script: string; worker: string; style: string };

function read(path: string, type: string): ServedFile {
  const bytes = readFileSync(path);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  return { bytes, gzip: gzipSync(bytes, { level: 9 }), etag, type };
}

function nameOf({ etag }: ServedFile, stem: string, ending: string): string {
  return `${stem}.${etag.slice(1, 13)}.${ending}`;
}
