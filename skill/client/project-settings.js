/** What an import changes in the texts of a project, and what its owner should know before it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { besidePublic, readSettings } from './project.js';
import { changedImports } from './project-imports.js';

/** @typedef {import('./project.js').Plan} Plan */
/**
 * The texts that change, by their paths in the project; and those of files that are added, by their paths in the repository of the source.
 * @typedef {{ texts: Map<string, string>, added: Map<string, string>, notes: string[], faults: string[] }} Changes
 */

/**
 * @param {string} folder
 * @param {Plan} plan
 * @returns {Promise<Changes>}
 */
export async function changesOf(folder, plan) {
  const texts = await changedImports(folder, plan);
  const notes = [
    ...(await changeBase(folder, plan, texts)),
    ...(await fillCollections(folder, plan, texts)),
    ...(await publicVariables(folder, plan)),
  ];
  return { texts, added: endpointsOf(plan), notes, faults: await headerFaults(folder, plan) };
}

/**
 * An endpoint for each file of `public/` that is not served unchanged. It has the file's address and bytes.
 * @param {Plan} plan
 */
function endpointsOf({ root, source }) {
  const start = root + besidePublic;
  const served = [...source.keys()].filter((path) => path.startsWith(start));
  return new Map(
    served.map((path) => [
      `${root}src/pages/${path.slice(start.length)}.js`,
      `// \`frontage import\` added this endpoint: it serves a file that was in public/.
import { readFile } from 'node:fs/promises';

export const GET = async () => new Response(await readFile('${path.slice(root.length)}'));
`,
    ]),
  );
}

/** What a build for production reads. */
const environments = ['.env', '.env.local', '.env.production', '.env.production.local'];

/**
 * The public variables that stay behind with the files of the environment, which may have secrets, too.
 * @param {string} folder
 * @param {Plan} plan
 */
async function publicVariables(folder, { root }) {
  const settings = await readSettings(join(folder, 'frontage.toml'));
  const isSet = new Set([...settings.matchAll(/^[ \t]*(PUBLIC_\w+)[ \t]*=/gm)].map(([, name]) => name));
  const notes = environments.map(async (file) => {
    const text = await readSettings(join(folder, root, file));
    const names = [...text.matchAll(/^[ \t]*(?:export[ \t]+)?(PUBLIC_\w+)[ \t]*=/gm)].map(([, name]) => name);
    const left = [...new Set(names)].filter((name) => !isSet.has(name));
    const where = 'the site’s public variables are under [env] in frontage.toml, in the root of the project';
    return left.length === 0 ? [] : [`${root}${file} is left out, with ${left.join(', ')}: ${where}.`];
  });
  return (await Promise.all(notes)).flat();
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
 * Astro's configuration, as changed so far; its text is empty without one.
 * @param {string} folder
 * @param {Plan} plan
 * @param {Changes['texts']} texts
 */
async function configOf(folder, { root, source }, texts) {
  const path = [...source.values()].find((one) => one.startsWith(root) && configName.test(one.slice(root.length)));
  if (path === undefined) return { path: '', text: '' };
  return { path, text: texts.get(path) ?? (await readFile(join(folder, path), 'utf8')) };
}

/**
 * Sites are served from the root of their address, so `base` becomes `/`.
 * @param {string} folder
 * @param {Plan} plan
 * @param {Changes['texts']} texts To which the text of the configuration is added.
 * @returns {Promise<string[]>} What the owner should know.
 */
async function changeBase(folder, plan, texts) {
  const { path, text } = await configOf(folder, plan, texts);
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

/**
 * Collections without a loader are of Astro 4. In Astro 6 and newer they have no entries, unless a setting names them as such.
 * @param {string} folder
 * @param {Plan} plan
 * @param {Changes['texts']} texts To which the text of the configuration is added.
 * @returns {Promise<string[]>} What the owner should know.
 */
async function fillCollections(folder, plan, texts) {
  const { root, source } = plan;
  const moved = [...source].find(([to, from]) => to !== from && to.startsWith(`${root}src/content.config.`));
  if (!moved) return [];
  const collections = moved[1];
  if (/\bloader\b/.test(await readFile(join(folder, collections), 'utf8'))) return [];
  const { path, text } = await configOf(folder, plan, texts);
  const setting = 'legacy: { collectionsBackwardsCompat: true }';
  const changed = text.replace(/\bdefineConfig\(\s*\{|\bexport default \{/, (start) => `${start}\n  ${setting},`);
  if (changed === text || /\blegacy\b/.test(text))
    return [`In ${collections}, add a loader to each collection: one without a loader has no entries.`];
  texts.set(path, changed);
  return [
    `${path}: ${setting} is added, because ${collections} defines collections without a loader. Use entry.id and render(entry) in place of entry.slug and entry.render().`,
  ];
}
