/** The packages that sites may import, and the nearest of them to one that is not offered. Pure but for reading the list. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Packages that are often asked for, and what does the same here. Others are compared by their names. */
const instead = new Map([
  ['@astrojs/tailwind', '@tailwindcss/vite'],
  ['@tailwindcss/postcss', '@tailwindcss/vite'],
  ['@astrojs/image', 'astro'],
  ['@astrolib/seo', 'astro-seo'],
  ['@heroicons/react', '@iconify-json/heroicons'],
  ['lucide-react', '@lucide/astro'],
  ['lucide-astro', '@lucide/astro'],
  ['react-icons', 'astro-icon'],
  ['@iconify/svelte', 'astro-icon'],
  ['@iconify/react', 'astro-icon'],
  ['moment', 'dayjs'],
  ['less', 'sass'],
  ['stylus', 'sass'],
  ['node-sass', 'sass'],
  ['sass-embedded', 'sass'],
  ['classnames', 'clsx'],
  ['rehype-highlight', 'rehype-pretty-code'],
  ['rehype-prism-plus', 'rehype-pretty-code'],
  ['rehype-mathjax', 'rehype-katex'],
  ['framer-motion', 'gsap'],
  ['motion', 'gsap'],
  ['lunr', 'minisearch'],
  ['flexsearch', 'minisearch'],
  ['astro-compress', 'sharp'],
  ['reading-time-estimator', 'reading-time'],
  ['@fontsource/geist-sans', '@fontsource-variable/geist'],
]);

/** At most this share of a name may differ from the nearest one. */
const differenceMax = 0.34;
const namesMax = 214;

/**
 * The names that a site's package.json lists, which are the ones that stay from one release to the next.
 * @param {string} home the folder with that package.json
 * @returns {Record<string, string>} versions by name
 */
export function readOffered(home) {
  return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).dependencies;
}

/**
 * The package that an import names: `@scope/name` or `name`. Undefined for a path, an address, and a module of Node.
 * @param {string} specifier
 */
export function packageOf(specifier) {
  return /^(@[a-z0-9-][\w.~-]*\/[a-z0-9-][\w.~-]*|[a-z0-9-][\w.~-]*)(?:\/[^:]*)?$/i.exec(
    specifier.slice(0, 2 * namesMax),
  )?.[1];
}

/**
 * The offered package that is most like the one named; undefined if none is.
 * @param {string} name
 * @param {Record<string, string>} offered
 * @returns {string | undefined}
 */
export function nearest(name, offered) {
  const known = instead.get(name);
  if (known && known in offered) return known;
  if (name.length > namesMax) return undefined;
  const font = /^@fontsource(?:-variable)?\/(.+)$/.exec(name)?.[1];
  const twin = font && [`@fontsource-variable/${font}`, `@fontsource/${font}`].find((other) => other in offered);
  if (twin || font) return twin || undefined;
  let best;
  let least = Math.floor(differenceMax * name.length) + 1;
  for (const other of Object.keys(offered)) {
    const difference = Math.abs(other.length - name.length) < least ? distance(name, other) : least;
    if (difference < least) [best, least] = [other, difference];
  }
  return best;
}

/**
 * Levenshtein's distance.
 * @param {string} one
 * @param {string} other
 */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = one[i - 1] === other[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + change));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
