/** `check`: what a folder imports that sites here cannot. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join, relative } from 'node:path';
import { json } from '../call.js';
import { log, plain, print, toJson } from '../output.js';
import { isSkipped } from '../project.js';
import { aliasesOf } from '../project-imports.js';
import { exits, usage } from '../server.js';

/** @typedef {import('./commands.js').Command} Command */

const sources = new Set('.astro .js .mjs .cjs .jsx .ts .mts .cts .tsx .svelte .vue .mdx .css .scss .sass'.split(' '));
const sourceBytesMax = 1_048_576;
/** Names in one request. */
const namesMax = 50;

// A list of names has an end, so that the time does not grow with the square of a file.
const imports = [
  /\b(?:import|export)\s+(?:type\s+)?(?:[\w$*{][^'"`;]{0,2000}?\sfrom\s*|)['"]([^'"\n]+)['"]/g,
  /\b(?:import|require)\s*\(\s*['"]([^'"\n]+)['"]/g,
  /@(?:import|plugin|reference)\s+(?:url\()?['"]([^'"\n]+)['"]/g,
];

/** @type {Command} */
export const check = {
  use: 'frontage check <folder>',
  about:
    'List the packages that the source in a folder imports and sites here cannot, with the nearest that they can. To check the pages of a site: frontage deployment check <site>.',
  async run(server, [folder], { json: asJson }) {
    if (!folder) throw usage('Specify the folder of the source.', 'frontage check --help');
    if (!existsSync(folder))
      throw usage(
        `There is no folder ${folder}. This command checks the source in a folder.`,
        `To check the pages of a site: frontage deployment check ${folder}`,
      );
    const found = await missingFor(server, folder);
    if (asJson) print(toJson({ missing: found }));
    else report(found);
    return found.length === 0 ? exits.done : exits.refused;
  },
};

/**
 * The packages that the source in a folder imports and sites cannot.
 * @param {import('../server.js').Server} server
 * @param {string} folder
 * @param {(path: string) => boolean} [takes] Which of its files count; all if absent.
 */
export async function missingFor(server, folder, takes = () => true) {
  const places = await importsBelow(folder, takes);
  const names = [...places.keys()];
  const missing = [];
  for (let from = 0; from < names.length; from += namesMax) {
    const query = names.slice(from, from + namesMax).map((name) => `name=${encodeURIComponent(name)}`);
    missing.push(...(await json(server, 'GET', `/v1/packages?${query.join('&')}`)).missing);
  }
  return missing.map(({ name, nearest }) => ({ name, nearest, files: places.get(name) ?? [] }));
}

/** @param {{ name: string, nearest: string | null, files: string[] }[]} missing */
function report(missing) {
  if (missing.length === 0) return log('✓ Every package that the source imports is offered.');
  for (const { name, nearest, files } of missing) {
    const more = files.length > 3 ? ` and ${files.length - 3} more` : '';
    print(`${plain(name)}  ${files.slice(0, 3).map(plain).join(', ')}${more}`);
    if (nearest) print(`  nearest: ${plain(nearest)}`);
  }
  log('→ Packages are fixed. Use the nearest ones, or build elsewhere and run: frontage deploy <site> <folder>');
}

/**
 * The packages that files import, each with the files. Left out are paths, aliases of tsconfig.json, and modules of Node and Astro.
 * @param {string} root
 * @param {(path: string) => boolean} takes
 */
async function importsBelow(root, takes) {
  const aliases = (await aliasesOf(root)).map(([alias]) => alias.replace(/\*$/, '')).filter(Boolean);
  /** @type {Map<string, string[]>} */
  const places = new Map();
  for (const file of (await sourcesBelow(root, root)).filter((path) => takes(relative(root, path)))) {
    const text = (await readFile(file)).subarray(0, sourceBytesMax).toString('utf8');
    const specifiers = imports.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name));
    for (const specifier of new Set(specifiers)) {
      const name = /^(@[\w.-]+\/[\w.-]+|[a-z0-9][\w.-]*)(\/|$)/i.exec(specifier)?.[1];
      if (!name || aliases.some((alias) => specifier.startsWith(alias)) || isPath(root, file, specifier)) continue;
      const known = places.get(name) ?? [];
      const shown = relative(root, file);
      if (known.at(-1) !== shown) places.set(name, [...known, shown]);
    }
  }
  return places;
}

/**
 * @param {string} root
 * @param {string} file
 * @param {string} specifier
 */
function isPath(root, file, specifier) {
  // An import may leave out the extension: then the folder is there.
  const paths = [specifier, dirname(specifier)].filter((path) => path !== '.');
  return [dirname(file), root, join(root, 'src')].some((folder) =>
    paths.some((path) => existsSync(join(folder, path))),
  );
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {Promise<string[]>}
 */
async function sourcesBelow(root, folder) {
  const items = await readdir(folder, { withFileTypes: true });
  const below = items.map(async (item) => {
    const path = join(folder, item.name);
    if (isSkipped(relative(root, path))) return [];
    if (item.isDirectory()) return sourcesBelow(root, path);
    return item.isFile() && sources.has(extname(item.name).toLowerCase()) ? [path] : [];
  });
  return (await Promise.all(below)).flat();
}
