/**
 * Digests of a snapshot. Two with the same digest of all files are equal. Two with the same digest of what a build executes differ only in
 * pictures and text, which the framework reads as data.
 */
import { createHash } from 'node:crypto';
import { contentFolder, extensionOf } from '#providers/paths.ts';

const pictures: ReadonlySet<string> = new Set(['jpg', 'jpeg', 'png', 'webp', 'avif', 'gif']);
/** A post that shows such a file as a picture imports it, and the bundler executes what it does not know by its extension. It knows this one. */
const data = 'json';

/** Collects the files of one snapshot, in any order. */
export class SnapshotDigests {
  readonly #all: string[] = [];
  readonly #executed: string[] = [];

  /** `path` is where the build finds the file, `oid` is its blob id. */
  add(path: string, oid: string, content: Buffer): void {
    const line = JSON.stringify([path, oid]);
    this.#all.push(line);
    if (mayExecute(path, content)) this.#executed.push(line);
  }

  ofAll(): string {
    return digestOf(this.#all);
  }

  ofExecuted(): string {
    return digestOf(this.#executed);
  }
}

function digestOf(lines: string[]): string {
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}

/** Anything unknown counts as executed: at worst, a build starts without a cache. */
function mayExecute(path: string, content: Buffer): boolean {
  const extension = extensionOf(path);
  if (pictures.has(extension)) return false;
  if (!path.startsWith(contentFolder)) return true;
  return extension === 'md' ? mayImport(content) : extension !== data;
}

/**
 * Whether the front matter could have a `layout`: where a page imports posts as modules, the framework imports what it names, which may be a
 * `data:` URL or another post. Only a backslash could spell the key in another way. The front matter ends before the last such line.
 */
function mayImport(content: Buffer): boolean {
  // Searching bytes takes a tenth of the time.
  if (!content.includes('layout') && !content.includes('\\')) return false;
  const text = content.toString('utf8');
  const end = Math.max(text.lastIndexOf('\n---'), text.lastIndexOf('\n+++'));
  return /layout|\\/.test(text.slice(0, Math.max(end, 0)));
}
