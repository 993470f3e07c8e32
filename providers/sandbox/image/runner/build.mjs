/**
 * Runs the framework on a site. Runs in the same process as the site's own code, so its output is not trusted.
 * With `rehearse` it first builds a small site to warm up, and reports on file descriptor 3 when it is ready.
 */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { cp, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'astro';
import { describe } from './failure.mjs';
import { readOffered } from './offered.mjs';

const asked = once(createInterface({ input: process.stdin }), 'line');
if (process.argv[2] === 'rehearse') await rehearse(process.env.TMPDIR ?? '/tmp');
const [line] = await asked;
const started = performance.now();
const order = JSON.parse(line);
const offered = readOffered(dirname(import.meta.dirname));

/** @param {unknown} error */
function fail(error) {
  const { message, text } = describe(error, order.root, offered);
  console.error(`\nThe build failed.\n${text}`);
  try {
    writeSync(3, JSON.stringify({ message }));
  } catch {
    // Site code has closed it; the log contains the reason.
  }
  process.exit(1);
}
process.on('uncaughtException', fail);

/**
 * Settings of all builds. `outDir` is on the same mount as root: Astro renames files between the two.
 * @param {string} root
 * @param {string} cacheDir
 */
function settings(root, cacheDir) {
  return {
    root,
    outDir: join(root, 'dist'),
    cacheDir: join(cacheDir, 'astro'),
    vite: { cacheDir: join(cacheDir, 'vite') },
  };
}

/**
 * Warms up the framework, before any site code has run in this process. Builds twice: without caches, and then with those of the first build.
 * @param {string} temporary
 */
async function rehearse(temporary) {
  const home = dirname(import.meta.dirname);
  const before = process.cwd();
  const cache = join(temporary, 'rehearsal-cache');
  const roots = ['rehearsal-first', 'rehearsal-next'].map((name) => join(temporary, name));
  for (const root of roots) {
    await cp(join(home, 'rehearsal'), root, { recursive: true });
    await symlink(join(home, 'node_modules'), join(root, 'node_modules'));
    // Astro writes the modules it will run below the working folder: their names must never belong to files of a site.
    process.chdir(root);
    await build({ ...settings(root, cache), logLevel: 'silent' });
  }
  process.chdir(before);
  for (const folder of [cache, ...roots]) await rm(folder, { recursive: true });
  writeSync(3, '\n');
}

/**
 * @typedef {{
 *   base: string, fonts?: { name: string, provider?: { name?: string } }[], publicDir: URL, root: URL,
 *   vite?: { publicDir?: unknown },
 * }} Config
 */

/** Refuses settings with which a build would succeed, but not with what the site needs, and warns of a base. */
const refuseSettings = {
  name: 'frontage:settings',
  hooks: {
    /** @param {{ config: Config }} event */
    'astro:config:done': ({ config }) => {
      refuseRemoteFonts(config);
      requirePublicDir(config);
      warnOfBase(config);
    },
  },
};

/**
 * Without a network, Astro skips such a font after ten seconds and still reports success.
 * @param {Config} config
 */
function refuseRemoteFonts({ fonts = [] }) {
  const remote = fonts.find((font) => font.provider?.name !== 'local');
  if (!remote) return;
  throw new Error(
    `The configuration requires the font "${remote.name}" from ${remote.provider?.name ?? 'a provider'}, but builds have ` +
      'no network. Use an installed @fontsource package, or put the font file under src/assets and use ' +
      'fontProviders.local().',
  );
}

/**
 * Files of another folder would be served without a check of their format.
 * @param {Config} config
 */
function requirePublicDir({ publicDir, root, vite }) {
  if (publicDir.href === new URL('public/', root).href && vite?.publicDir === undefined) return;
  throw new Error(
    'The configuration sets publicDir, which the platform sets itself. Remove it, and put files that are served ' +
      'unchanged, for example favicon.ico and robots.txt, in src/static/.',
  );
}

/**
 * A site is served from the root of its address.
 * @param {Config} config
 */
function warnOfBase({ base }) {
  if (base === '/' || base === '') return;
  console.warn(
    `Warning: The configuration sets base to ${JSON.stringify(base)}, but a site is served from the root of its address, ` +
      'so its links and styles lead nowhere. Remove base, or set it to "/".',
  );
}

try {
  await build({
    ...settings(order.root, order.cacheDir),
    site: order.siteUrl,
    integrations: [refuseSettings],
  });
} catch (error) {
  fail(error);
}
console.log(`Built in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
process.exit(0);
