/** Scripts and styles that the pages of forms and sites load from the platform. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { browserModule, bundled } from '#runtime/bundle.ts';
import { type fileTypes, type PageFile, pageFile } from '#web/page-file.ts';

const altcha = (path: string): string => fileURLToPath(new URL(path, import.meta.resolve('altcha/external')));
const read = (path: string | URL, type: keyof typeof fileTypes) => pageFile(readFileSync(path), type);

const ours = (path: string): URL => new URL(`../../web/widgets/form/${path}`, import.meta.url);

/** Files that pages of sites load, by path. Their names never change, so browsers revalidate them after some minutes. */
export const widget = {
  '/f/widget.js': pageFile(bundled(ours('widget.js'), browserModule)(), 'script'),
  '/f/widget.css': read(ours('widget.css'), 'style'),
} as const;

const named = [
  ['script', read(altcha('altcha.min.js'), 'script'), 'altcha', 'js'],
  ['worker', read(altcha('../workers/pbkdf2.js'), 'script'), 'altcha-worker', 'js'],
  ['style', read(altcha('altcha.css'), 'style'), 'altcha', 'css'],
] as const;

/** Immutable files, named by their hash. */
export const hashed: ReadonlyMap<string, PageFile> = new Map(
  named.map(([, file, stem, ending]) => [nameOf(file, stem, ending), file]),
);

/** Paths of the files that a page with the challenge needs. */
export const widgetFiles = Object.fromEntries(
  named.map(([part, file, stem, ending]) => [part, `/f/files/${nameOf(file, stem, ending)}`]),
) as { script: string; worker: string; style: string };

function nameOf({ hash }: PageFile, stem: string, ending: string): string {
  return `${stem}.${hash.slice(0, 12)}.${ending}`;
}
