/** What an import changes in the texts of a project, and what its owner should know before it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changedImports } from './project-imports.js';

/** @typedef {import('./project.js').Plan} Plan */
/** @typedef {{ texts: Map<string, string>, notes: string[] }} Changes The texts that change, by their paths in the project. */

/**
 * @param {string} folder
 * @param {Plan} plan
 * @returns {Promise<Changes>}
 */
export async function changesOf(folder, plan) {
  const texts = await changedImports(folder, plan);
  const notes = await changeBase(folder, plan, texts);
  return { texts, notes };
}

const configName = /^astro\.config\.[mc]?[jt]s$/;
/** In a line that is no comment. */
const quotedBase = /^((?![ \t]*(?:\/\/|\*)).*?\bbase[ \t]*:[ \t]*)(['"`])(\/?[\w-][\w./-]*)\2/gm;
const codedBase = /^(?![ \t]*(?:\/\/|\*)).*?\bbase[ \t]*:(?![ \t]*(?:''|""|(['"`])\/\1))/m;

/**
 * Sites are served from the root of their address, so `base` becomes `/`.
 * @param {string} folder
 * @param {Plan} plan
 * @param {Changes['texts']} texts To which the text of the configuration is added.
 * @returns {Promise<string[]>} What the owner should know.
 */
async function changeBase(folder, { root, source }, texts) {
  const path = [...source.values()].find((one) => one.startsWith(root) && configName.test(one.slice(root.length)));
  if (path === undefined) return [];
  const text = texts.get(path) ?? (await readFile(join(folder, path), 'utf8'));
  /** @type {string[]} */
  const notes = [];
  const changed = text.replaceAll(quotedBase, (_all, before, quote, base) => {
    notes.push(
      `${path}: base ${base} → /, the root of the site’s address. Links in pages and posts that begin with ${base} lead nowhere: change them.`,
    );
    return `${before}${quote}/${quote}`;
  });
  if (changed !== text) texts.set(path, changed);
  if (codedBase.test(changed))
    notes.push(`${path} computes base, which stays. With another base than /, links and styles lead nowhere.`);
  return notes;
}
