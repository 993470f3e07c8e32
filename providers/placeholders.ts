/** Placeholders in the paths of `_redirects` and `_headers`: a segment `:name` matches any one segment. Pure. */

const name = '[A-Za-z_]\\w*';

/** A whole segment that is a placeholder. */
export const placeholder = new RegExp(`(?<=^|/):(${name})(?=/|$)`, 'g');

/** A name in a target, which is replaced if the path has such a placeholder. */
export const placeholderName = new RegExp(`:(${name})`, 'g');

/** The names of the placeholders of a path. */
export function placeholdersOf(path: string): string[] {
  return [...path.matchAll(placeholder)].map(([, found]) => found as string);
}

/** Why the placeholders of a path cannot be used; undefined if they can. */
export function placeholderFault(path: string): string | undefined {
  if (new RegExp(`(?:^|/):${name}(?![\\w]*(?:/|$))`).test(path))
    return 'has a placeholder that is only part of a segment';
  const names = placeholdersOf(path);
  return new Set([...names, 'splat']).size <= names.length ? 'uses a placeholder twice, or the name :splat' : undefined;
}
