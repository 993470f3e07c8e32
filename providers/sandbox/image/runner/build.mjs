/**
 * Runs the framework on a site. Lives in the same process as the site's own code, so nothing it says is trusted.
 * With `rehearse` it first builds a small site of the platform's, and says on file 3 when it has: what comes after is faster.
 */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { cp, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'astro';
import { describe } from './failure.mjs';

const asked = once(createInterface({ input: process.stdin }), 'line');
if (process.argv[2] === 'rehearse') await rehearse(process.env.TMPDIR);
const [line] = await asked;
const started = performance.now();
const order = JSON.parse(line);

function fail(error) {
  const { message, text } = describe(error, order.root);
  console.error(`\n${text}`);
  try {
    writeSync(3, JSON.stringify({ message }));
  } catch {
    // Site code closed it; the log has the reason.
  }
  process.exit(1);
}
process.on('uncaughtException', fail);

/** What all builds share. `outDir` is on the same mount as root: Astro renames between the two. */
function settings(root, cacheDir) {
  return {
    root,
    outDir: join(root, 'dist'),
    cacheDir: join(cacheDir, 'astro'),
    vite: { cacheDir: join(cacheDir, 'vite') },
  };
}

/**
 * Loads and warms what a build takes: no site's code has run in this process before, and one site's will. Twice, as a site is published:
 * first with nothing, then with the caches of the first.
 */
async function rehearse(temporary) {
  const home = dirname(import.meta.dirname);
  const before = process.cwd();
  const cache = join(temporary, 'rehearsal-cache');
  const roots = ['rehearsal-first', 'rehearsal-next'].map((name) => join(temporary, name));
  for (const root of roots) {
    await cp(join(home, 'rehearsal'), root, { recursive: true });
    await symlink(join(home, 'node_modules'), join(root, 'node_modules'));
    // Astro writes what it is about to run below the working folder: no file of a site's may ever have had the name of one of these.
    process.chdir(root);
    await build({ ...settings(root, cache), logLevel: 'silent' });
  }
  process.chdir(before);
  for (const folder of [cache, ...roots]) await rm(folder, { recursive: true });
  writeSync(3, '\n');
}

/** Offline, Astro leaves such a font out, waits ten seconds, and says that all went well. */
const refuseRemoteFonts = {
  name: 'frontage:fonts',
  hooks: {
    'astro:config:done': ({ config }) => {
      const remote = (config.fonts ?? []).find((font) => font.provider?.name !== 'local');
      if (!remote) return;
      throw new Error(
        `The configuration asks for the font "${remote.name}" from ${remote.provider?.name ?? 'a provider'}, and builds have ` +
          'no network. Use an installed @fontsource package, or put the font file under src/assets and use ' +
          'fontProviders.local().',
      );
    },
  },
};

try {
  await build({
    ...settings(order.root, order.cacheDir),
    site: order.siteUrl,
    integrations: [refuseRemoteFonts],
  });
} catch (error) {
  fail(error);
}
console.log(`Built in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
process.exit(0);
