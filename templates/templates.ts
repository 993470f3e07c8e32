/**
 * The site starters: `<name>/template.json`, `<name>/source` (the site's repository), `<name>/content` (its posts).
 * `shared/source` has what all of them have; a starter's own file replaces it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

const here = import.meta.dirname;
const shared = 'shared';
const frozenDir = join(here, '../providers/sandbox/image');
const frozenFiles = ['package.json', 'package-lock.json'];

export type TemplateSummary = { name: string; title: string; description: string };
/** The address of the booking widget, and the site whose times it shows. */
export type Bookings = { widget: string; site: string };
/** Files by path in the repository, with `/`. */
export type TemplateFiles = Map<string, Buffer>;

/** All starters, by name. */
export async function listTemplates(): Promise<TemplateSummary[]> {
  const items = await readdir(here, { withFileTypes: true });
  const names = items.filter((item) => item.isDirectory() && item.name !== shared).map((item) => item.name);
  return Promise.all(names.sort().map(summarize));
}

/**
 * Reads a starter as the first commits of a new site's two repositories, with its title and booking widget. The source
 * includes the platform's frozen files, so that a clone builds with `npm ci && npx astro build`. Returns `undefined`
 * for unknown names.
 */
export async function readTemplate(
  name: string,
  { title, bookings }: { title: string; bookings?: Bookings },
): Promise<{ source: TemplateFiles; content: TemplateFiles } | undefined> {
  const known = await listTemplates();
  if (!known.some((template) => template.name === name)) return undefined;
  const source = new Map(await readTrees(join(here, shared, 'source'), join(here, name, 'source')));
  for (const file of frozenFiles) source.set(file, await readFile(join(frozenDir, file)));
  const facts = JSON.parse(String(source.get('src/site.json')));
  // Only templates with a booking widget use them.
  const visitors = facts.bookings === undefined || !bookings ? {} : { bookings: { ...facts.bookings, ...bookings } };
  source.set('src/site.json', Buffer.from(`${JSON.stringify({ ...facts, title, ...visitors }, null, 2)}\n`));
  return { source, content: await readTree(join(here, name, 'content')) };
}

async function summarize(name: string): Promise<TemplateSummary> {
  const { title, description } = JSON.parse(await readFile(join(here, name, 'template.json'), 'utf8'));
  return { name, title, description };
}

const readTrees = async (...folders: string[]) =>
  (await Promise.all(folders.map(readTree))).flatMap((files) => [...files]);

/** What was read stays: a running process has the starters of its release. */
const trees = new Map<string, TemplateFiles>();

async function readTree(folder: string): Promise<TemplateFiles> {
  const tree = trees.get(folder) ?? (await readFiles(folder));
  trees.set(folder, tree);
  return new Map(tree);
}

async function readFiles(folder: string): Promise<TemplateFiles> {
  const items = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = items.filter((item) => item.isFile()).map((item) => join(item.parentPath, item.name));
  const files = paths.sort().map(async (path): Promise<[string, Buffer]> => {
    return [relative(folder, path).split(sep).join('/'), await readFile(path)];
  });
  return new Map(await Promise.all(files));
}
