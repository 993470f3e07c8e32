/** What an import changes in the texts of a project, and what its owner should know before it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changedImports } from './project-imports.js';

/** @typedef {import('./project.js').Plan} Plan */
/** @typedef {{ texts: Map<string, string>, notes: string[], faults: string[] }} Changes The texts that change, by their paths in the project. */

/**
 * @param {string} folder
 * @param {Plan} plan
 * @returns {Promise<Changes>}
 */
export async function changesOf(folder, plan) {
  const texts = await changedImports(folder, plan);
  const notes = await changeBase(folder, plan, texts);
  return { texts, notes, faults: await headerFaults(folder, plan) };
}

/** The header fields that the service lets a site set. */
export const headerNames = new Set(
  [
    'access-control-allow-headers access-control-allow-methods access-control-allow-origin',
    'access-control-expose-headers access-control-max-age cache-control content-disposition content-language',
    'content-security-policy content-security-policy-report-only cross-origin-embedder-policy',
    'cross-origin-opener-policy cross-origin-resource-policy link permissions-policy referrer-policy',
    'x-content-type-options x-frame-options x-robots-tag',
  ].flatMap((names) => names.split(' ')),
);

/**
 * The lines of `_headers` that the service would refuse.
 * @param {string} folder
 * @param {Plan} plan
 */
async function headerFaults(folder, { root, source }) {
  const path = source.get(`${root}_headers`);
  if (path === undefined) return [];
  const lines = (await readFile(join(folder, path), 'utf8')).replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  return lines.flatMap((line, index) => {
    const text = line.trim();
    if (text === '' || text.startsWith('#') || line.startsWith('/')) return [];
    const [name = ''] = text.split(':', 1);
    if (headerNames.has(name.trim().toLowerCase())) return [];
    return [`Line ${index + 1} of ${path} sets ${name}, which a site cannot set.`];
  });
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
