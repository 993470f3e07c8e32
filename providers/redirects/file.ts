/** The file `_redirects` of a deployment: `/from /to 301` or `/from /file 200` on each line, comments after `#`. Pure. */
import { isUtf8 } from 'node:buffer';
import type { ManifestFile } from '#providers/manifest.ts';
import type { RedirectRule } from '#providers/redirects.ts';
import type { Store } from '#providers/store/store.ts';
import { errors } from '#runtime/errors.ts';
import { checkRedirects, type RawRule, rulesMax } from './rules.ts';

/** Read at publishing, never served. */
export const redirectsFile = '_redirects';

/** Enough for the maximum number of rules, each with a comment. */
const redirectsFileBytesMax = 4 * 1024 * 1024;

/**
 * Parses the file. The status defaults to 301; a line for a removed page may omit the target: `/old 410`. Throws
 * `invalid_redirects`, which names the first invalid line.
 */
export function parseRedirectsFile(content: Buffer, origin: string): RedirectRule[] {
  if (content.length > redirectsFileBytesMax) throw tooLarge();
  if (!isUtf8(content)) throw unreadable('is not UTF-8 text');
  const written: RawRule[] = [];
  for (const [index, line] of content
    .toString()
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const words = line
      .replace(/(^|\s)#.*$/s, '')
      .split(/\s+/)
      .filter(Boolean);
    if (words.length > 0) written.push(readLine(`Line ${index + 1} of ${redirectsFile}`, words));
    if (written.length > rulesMax) break;
  }
  return checkRedirects(written, origin, { rewrites: true });
}

/** The rules of a published version. They were validated when it was published: an invalid file is older than the rules, and is ignored. */
export function publishedRedirects(content: Buffer, origin: string): RedirectRule[] {
  try {
    return parseRedirectsFile(content, origin);
  } catch {
    return [];
  }
}

/** Throws `invalid_redirects` if the file contains invalid rules: a version with such rules does not go live. */
export async function requireUsableRedirects(
  store: Pick<Store, 'readAll'>,
  file: Pick<ManifestFile, 'sha256' | 'bytes'> | undefined,
  origin: string,
): Promise<void> {
  if (!file) return;
  if (file.bytes > redirectsFileBytesMax) throw tooLarge();
  const content = await store.readAll(file.sha256);
  if (!content) throw errors.storage_error(`The file ${redirectsFile} cannot be read at the moment.`);
  parseRedirectsFile(content, origin);
}

function readLine(name: string, words: string[]): RawRule {
  const [from = '', ...rest] = words;
  const [to, last, ...more] = rest.length === 1 && rest[0] === '410' ? [undefined, '410'] : rest;
  if (more.length > 0) {
    throw errors.invalid_redirects(
      `${name} has text after the path, the target and the status; conditions are not supported.`,
      {
        nextAction: 'Remove the text after the status, then publish again.',
      },
    );
  }
  // On other services `301!` means that the rule wins over a file. Here every redirect does, and no rewrite.
  if (last === '200!') {
    throw errors.invalid_redirects(`${name} has the status 200!, but an existing file always precedes a rewrite.`, {
      nextAction: 'Remove the exclamation mark, or the file, then publish again.',
    });
  }
  const status = last === undefined ? 301 : Number(/^(\d{3})!?$/.exec(last)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) {
    throw errors.invalid_redirects(`${name} does not end with a status: ${JSON.stringify(last?.slice(0, 80))}.`, {
      nextAction: 'Write the line in the form /from /to 301, then publish again.',
    });
  }
  return { name, from, to, status };
}

function tooLarge() {
  return unreadable(`is larger than ${redirectsFileBytesMax / 1024 ** 2} MiB`);
}

function unreadable(what: string) {
  return errors.invalid_redirects(`The file ${redirectsFile} ${what}.`, {
    nextAction: 'Fix the file, then publish again.',
  });
}
