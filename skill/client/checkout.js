/** Where a project comes from: a folder, a git repository, or a folder in one of them. */
import { realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { usage } from './server.js';

/** The page of a folder on GitHub or GitLab. */
const folderPage =
  /^(https?:\/\/[^/]+\/(?:[^/]+\/[^/]+(?=\/tree\/)|.+?(?=\/-\/tree\/)))(?:\/-)?\/tree\/([^/?#]+)\/?([^?#]*)/;

/**
 * The parts of a git URL; undefined for a path. The page of a folder names the branch, too.
 * @param {string} project
 * @returns {{ url: string, branch?: string, root: string } | undefined}
 */
export function addressOf(project) {
  if (!/^(https?|ssh|git|file):\/\/|^git@[\w.-]+:/.test(project)) return undefined;
  const [, url, branch = '', root = ''] = folderPage.exec(project) ?? [];
  return url === undefined ? { url: project, root: '' } : { url, branch: decoded(branch), root: decoded(root) };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The path of a folder in a project. A link in a repository must not lead out of it.
 * @param {string} project
 * @param {string} root
 */
export function folderIn(project, root) {
  const path = join(project, root);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    const real = realpathSync(path);
    if (`${real}${sep}`.startsWith(`${realpathSync(project)}${sep}`)) return real;
  }
  throw usage(`There is no folder ${root} in the project.`, 'frontage import --help');
}

/**
 * The folders of a monorepo with an Astro project each; none if the root has one, or the settings name another root.
 * @param {import('./project.js').Plan} plan
 */
export function projectsBelow({ root, source }) {
  const paths = [...source.values()];
  if (root !== '' || paths.some((path) => /^(astro\.config\.[mc]?[jt]s$|src\/pages\/)/.test(path))) return [];
  return paths.flatMap((path) => /^(.+)\/astro\.config\.[mc]?[jt]s$/.exec(path)?.[1] ?? []);
}
