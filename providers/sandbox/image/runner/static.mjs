/** Files that are served unchanged: `src/static/` beside what `public/` has. */
import { existsSync, linkSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listFiles } from './output.mjs';
import { SiteFailure } from './source.mjs';

const folder = 'src/static';

/**
 * Adds the files to `public/`, which the framework copies to the root of the output. They are hard links: a copy would take up memory.
 * @param {string} root
 */
export function linkStaticFiles(root) {
  if (!lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory()) return;
  for (const [path] of listFiles(root, folder)) {
    const name = path.slice(folder.length + 1);
    const target = join(root, 'public', name);
    try {
      mkdirSync(dirname(target), { recursive: true });
      linkSync(join(root, path), target);
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error);
      if (!existsSync(target) && code !== 'ENOTDIR' && code !== 'EEXIST') throw error;
      throw new SiteFailure(`${path} and public/${name} have the same address. Remove one of them.`);
    }
  }
}
