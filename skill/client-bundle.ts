/** The terminal client as one file, which runs on Node 20 with no dependencies. */
import { readFileSync } from 'node:fs';
import { bundled } from '#runtime/bundle.ts';

/** Path of the client in the skill tree. */
export const clientPath = 'bin/frontage.mjs';

const entry = new URL(`./${clientPath}`, import.meta.url);
/** The entry's own description, which a bundle does not keep. */
const [header = ''] = /^\/\*\*.*?\*\//ms.exec(readFileSync(entry, 'utf8')) ?? [];

/** The text of the client, with `{base_url}` still in it. */
export const bundleClient = bundled(entry, {
  platform: 'node',
  format: 'esm',
  target: 'node20',
  banner: { js: header },
});
