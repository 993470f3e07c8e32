/** From the target of a request to the path of a file. What comes out is a key to look up, never a path on a disk. */

import { isEvasive } from '#providers/paths.ts';

export type Target = {
  /** Decoded, without the leading slash: `blog/` for `/blog/`. */
  path: string;
  /** As it was sent, with its `?`; empty when there is none. */
  query: string;
};

const visible = /^\/[\x21-\x7e]*$/;

/** Reads a target in origin form strictly: what has two readings, or none in UTF-8, is `undefined`. */
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
    // Refuses a % without two digits, overlong forms, surrogates and everything else that is not UTF-8.
    return decodeURIComponent(sent);
  } catch {
    return undefined;
  }
}

/** The reference under which visitors reach a path of the site; always within the site, since it starts with one slash. */
export function hrefOf(path: string): string {
  return `/${path.split('/').map(encodeURIComponent).join('/')}`;
}
