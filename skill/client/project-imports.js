/** Imports by relative paths in files of a project that move away from what they import, or import what moves. */
import { readFile } from 'node:fs/promises';
import { extname, join, posix } from 'node:path';

const importing = new Set('.mdx .astro .js .mjs .jsx .ts .mts .tsx .svelte .vue'.split(' '));
const relativeImport = /\b((?:from|import)\s*(?:\(\s*)?)(['"])(\.{1,2}\/[^'"\n]+)\2/g;

/** What an import may leave out of a file's name. */
const endings = ['', '.ts', '.tsx', '.js', '.jsx', '.mts', '.mjs'];

/**
 * The texts of the files whose imports must change, by their paths in the project. The build has content at its old paths, so only what moves in
 * the source matters.
 * @param {string} folder
 * @param {Pick<import('./project.js').Plan, 'source' | 'content'>} plan
 * @returns {Promise<Map<string, string>>}
 */
export async function changedImports(folder, { source, content }) {
  const moved = new Map([...source].filter(([to, from]) => to !== from).map(([to, from]) => [from, to]));
  /** @type {Map<string, string>} */
  const texts = new Map();
  if (moved.size === 0) return texts;
  const kept = [...source.values(), ...content.values()].filter((path) => importing.has(extname(path)));
  for (const path of kept) {
    const text = await readFile(join(folder, path), 'utf8');
    const changed = text.replaceAll(relativeImport, (all, before, quote, specifier) => {
      const target = posix.join(posix.dirname(path), specifier);
      const ending = endings.find((one) => moved.has(target + one)) ?? '';
      const place = moved.get(target + ending)?.slice(0, -ending.length || undefined);
      if (!moved.has(path) && place === undefined) return all;
      const from = posix.dirname(moved.get(path) ?? path);
      const relative = posix.relative(from, place ?? target);
      return `${before}${quote}${relative.startsWith('.') ? relative : `./${relative}`}${quote}`;
    });
    if (changed !== text) texts.set(path, changed);
  }
  return texts;
}
