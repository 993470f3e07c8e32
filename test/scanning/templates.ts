/** The source of each starter: what its pages are made of, forms, widgets and scripts included. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../templates');

export const templateNames = (): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((one) =>
    one.isDirectory() && one.name !== 'shared' ? [one.name] : [],
  );

/** Pages of it as if they were built: what Astro leaves of a component is what stands in it. */
export async function readTemplate(name: string): Promise<Record<string, string>> {
  const files = ['shared', name]
    .flatMap((one) => readdirSync(join(folder, one), { recursive: true, withFileTypes: true }))
    .filter((one) => one.isFile());
  const texts = files.filter(({ name: file }) => /\.(astro|html|svg|m?js)$/.test(file));
  return Object.fromEntries(
    texts.map((one) => [
      join(one.parentPath, one.name).replace(/\.astro$/, '.html'),
      readFileSync(join(one.parentPath, one.name), 'utf8'),
    ]),
  );
}
