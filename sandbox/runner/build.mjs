/** Runs the framework on a site. Lives in the same process as the site's own code, so nothing it says is trusted. */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'astro';
import { describe } from './failure.mjs';

const [line] = await once(createInterface({ input: process.stdin }), 'line');
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
    root: order.root,
    site: order.siteUrl,
    // On the same mount as root: Astro renames between the two.
    outDir: join(order.root, 'dist'),
    cacheDir: join(order.temporary, 'astro'),
    vite: { cacheDir: join(order.temporary, 'vite') },
    integrations: [refuseRemoteFonts],
  });
} catch (error) {
  fail(error);
}
console.log(`Built in ${(performance.now() / 1000).toFixed(1)} s.`);
process.exit(0);
