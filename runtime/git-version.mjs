// Plain JavaScript: it is read before the packages are installed.

/** `git merge-tree --write-tree` came last of what is used here. */
export const oldestGit = '2.38';

/**
 * The version in the output of `git --version`, if it is older.
 * @param {string} output
 */
export function olderGit(output) {
  const version = /\d+\.\d+[.\d]*/.exec(output)?.[0];
  return version && version.localeCompare(oldestGit, 'en', { numeric: true }) < 0 ? version : undefined;
}
