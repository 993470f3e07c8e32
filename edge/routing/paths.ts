/** Maps a request target to a file's path: a key to look up, never a path on a disk. */

import { isEvasive } from '#providers/paths.ts';

export type Target = {
  /** Decoded, without the leading slash: `blog/` for `/blog/`. */
  path: string;
  /** As sent, with its `?`; empty if there is none. */
  query: string;
};

const visible = /^\/[\x21-\x7e]*$/;

/** Parses a target in origin form strictly: `undefined` if it is ambiguous or not UTF-8. */
export function readTarget(raw: string): Target | undefined {
  if (!visible.test(raw)) return undefined;
  const mark = raw.indexOf('?');
  const sent = mark === -1 ? raw.slice(1) : raw.slice(1, mark);
  const path = sent.includes('%') ? decode(sent) : sent;
  if (path === undefined || sent.includes('#') || isEvasive(path)) return undefined;
  return { path, query: mark === -1 ? '' : raw.slice(mark) };
}

function decode(sent: string): string | undefined {
  if (/%2f/i.test(sent)) return undefined;
  try {
    // Throws for a % without two digits, overlong forms, surrogates and anything else that is not UTF-8.
    return decodeURIComponent(sent);
  } catch {
    return undefined;
  }
}

/** The URL path of a file. It stays within the site, because it starts with one slash. */
export function hrefOf(path: string): string {
  return `/${path.split('/').map(encodeURIComponent).join('/')}`;
}
