/**
 * A digest of everything that a build of a snapshot executes. Two snapshots with the same digest differ only in pictures and text, which the
 * framework reads as data.
 */
import { createHash } from 'node:crypto';
import { contentFolder, extensionOf } from '#providers/paths.ts';

const pictures: ReadonlySet<string> = new Set(['jpg', 'jpeg', 'png', 'webp', 'avif', 'gif']);
/** A post that shows such a file as a picture imports it, and the bundler executes what it does not know by its extension. It knows this one. */
const data = 'json';

/** Collects the files of one snapshot, in any order. */
export class ExecutedFiles {
  readonly #lines: string[] = [];

  /** `path` is where the build finds the file, `oid` is its blob id. */
  add(path: string, oid: string, content: Buffer): void {
    if (mayExecute(path, content)) this.#lines.push(JSON.stringify([path, oid]));
  }

  digest(): string {
    return createHash('sha256').update(this.#lines.sort().join('\n')).digest('hex');
  }
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
