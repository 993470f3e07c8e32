/** What a site can import, by purpose. */
import { readOffered } from './runner/offered.mjs';

export type PackageGroup = { name: string; packages: { name: string; version: string }[] };

/** The first pattern that fits names the group. */
const groups: [name: string, of: RegExp][] = [
  ['astro', /^(astro$|@astrojs\/(?!.*(react|preact|svelte|vue|solid|alpine)))/],
  ['frameworks', /^(@astrojs\/|@preact\/|@?nanostores|(react|preact|svelte|vue|solid-js|alpinejs|react-dom)$)/],
  ['fonts', /^@fontsource/],
  ['icons', /^(@iconify-json\/|@lucide\/|astro-icon$)/],
  ['styles', /^(@?tailwind|tw-|daisyui|sass$|autoprefixer$|clsx$|class-variance-authority$)/],
  [
    'markdown',
    /^(remark-|rehype-|unist-|mdast-|hast|unified$|satteri$|katex$|shiki$|@shikijs\/|markdown-it$|marked$|gray-matter$)/,
  ],
  ['astro extensions', /^(astro-|@expressive-code\/|pagefind$|@pagefind\/)/],
  ['dates', /^(dayjs|date-fns|luxon)$/],
];

/** Versions by name. */
export const offeredPackages = readOffered(import.meta.dirname);

/** All offered packages, each in one group. */
export function packageGroups(): PackageGroup[] {
  const byGroup = Map.groupBy(
    Object.entries(offeredPackages),
    ([name]) => groups.find(([, of]) => of.test(name))?.[0] ?? 'others',
  );
  return [...groups.map(([name]) => name), 'others'].map((name) => ({
    name,
    packages: (byGroup.get(name) ?? []).map(([name, version]) => ({ name, version })),
  }));
}
