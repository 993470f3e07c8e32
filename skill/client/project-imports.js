/** Imports of the project's own files that must change because a file moves: by relative paths, from the root, and by aliases. */
import { readFile } from 'node:fs/promises';
import { extname, join, posix } from 'node:path';
import { readSettings } from './project.js';

const importing = new Set('.mdx .astro .js .mjs .jsx .ts .mts .tsx .svelte .vue'.split(' '));
const anyImport = /\b((?:from|import)\s*(?:\(\s*)?)(['"])([^'"?\n]+)(\?[^'"\n]*)?\2/g;

/** What an import may leave out of a file's name. */
const extensions = ['.ts', '.tsx', '.js', '.jsx', '.mts', '.mjs'];
const endings = ['', ...extensions, ...extensions.map((extension) => `/index${extension}`)];

/**
 * The texts of the files whose imports must change, by their paths in the project. The build has content at its old paths, so only what moves in
 * the source matters.
 * @param {string} folder
 * @param {import('./project.js').Plan} plan
 * @returns {Promise<Map<string, string>>}
 */
export async function changedImports(folder, { root, source, content }) {
  const moved = new Map([...source].filter(([to, from]) => to !== from).map(([to, from]) => [from, to]));
  /** @type {Map<string, string>} */
  const texts = new Map();
  if (moved.size === 0) return texts;
  const aliases = await aliasesOf(join(folder, root));
  // What is in public/ is not built, and its imports are addresses.
  const kept = [...source.values(), ...content.values()].filter(
    (path) => importing.has(extname(path)) && !path.startsWith(`${root}public/`),
  );
  for (const path of kept) {
    const text = await readFile(join(folder, path), 'utf8');
    const changed = text.replaceAll(anyImport, (all, before, quote, specifier, query = '') => {
      const isRelative = /^\.{1,2}\//.test(specifier);
      const target = isRelative ? posix.join(posix.dirname(path), specifier) : targetOf(root, aliases, specifier);
      const ending = endings.find((one) => moved.has(target + one)) ?? '';
      const place = moved.get(target + ending)?.slice(0, -ending.length || undefined);
      if (place === undefined && !(isRelative && moved.has(path))) return all;
      const relative = posix.relative(posix.dirname(moved.get(path) ?? path), place ?? target);
      return `${before}${quote}${relative.startsWith('.') ? relative : `./${relative}`}${query}${quote}`;
    });
    if (changed !== text) texts.set(path, changed);
  }
  return texts;
}

/**
 * The path in the project that an import from the root or by an alias leads to; empty for a package.
 * @param {string} root
 * @param {[alias: string, target: string][]} aliases
 * @param {string} specifier
 */
function targetOf(root, aliases, specifier) {
  if (specifier.startsWith('/')) return root + specifier.slice(1);
  for (const [alias, target] of aliases) {
    const start = alias.replace(/\*$/, '');
    if (start === alias ? specifier === alias : specifier.startsWith(start))
      return posix.join(
        root,
        target.replace('*', () => specifier.slice(start.length)),
      );
  }
  return '';
}

/**
 * `paths` in the configuration of TypeScript, the longest name first: names, and what they stand for in the folder. It may have comments, so
 * it is not parsed as JSON.
 * @param {string} folder
 * @returns {Promise<[alias: string, target: string][]>}
 */
export async function aliasesOf(folder) {
  const names = ['tsconfig.json', 'jsconfig.json'];
  const [typed, plain] = await Promise.all(names.map((name) => readSettings(join(folder, name))));
  const text = typed || plain || '';
  const paths = /"paths"\s*:\s*\{([^}]*)\}/.exec(text)?.[1] ?? '';
  const base = /"baseUrl"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? '';
  return [...paths.matchAll(/"([^"]+)"\s*:\s*\[\s*"([^"]+)"/g)]
    .map(([, alias = '', target = '']) => /** @type {[string, string]} */ ([alias, posix.join(base, target)]))
    .sort(([one], [other]) => other.length - one.length);
}
