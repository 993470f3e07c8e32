/**
 * Public projects, each imported with the client as it is and published. Takes a folder of checkouts, `--projects <folder>`;
 * docs/projects.md lists which, and which of them are built from source. Prints what becomes of each.
 * @module-tag projects
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { newTerminal } from '#test/acceptance/terminal.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { useStack } from '#test/stack/stack.ts';

const folder = await pathOf('projects');
const stack = useStack();
const { token } = await stack.openOwner();
const { run, close } = await newTerminal(`${stack.baseUrl}/skill/bin/frontage.mjs`, { FRONTAGE_TOKEN: token });
afterAll(close);

const listed = readFileSync(join(import.meta.dirname, '../../../docs/projects.md'), 'utf8');
const rows = [...listed.matchAll(/^\| `([\w.-]+)` .*\| (yes|no)[^|]*\|$/gm)];
const isBuilt = new Map(rows.map(([, name = '', built]) => [name, built === 'yes']));
const isProject = (name: string) =>
  readdirSync(join(folder, name)).some((file) => /^astro\.config\.[mc]?[jt]s$/.test(file));
const projects = folder === '' ? ['none'] : readdirSync(folder).filter((name) => isProject(name));

test.each(projects)('%s is imported and live as the list says', { timeout: 600_000 }, async (name) => {
  const imported = await run(['import', join(folder, name), '--yes']);
  const says = imported.err.split('\n').filter((line) => /^[✓✗]|not offered|left out/.test(line));
  console.log([name, ...says].join('\n  '));
  const site = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  if (imported.exit === 0) expect((await stack.visit(site, '/')).status).toBe(200);
  if (isBuilt.has(name)) expect(imported.exit === 0, imported.err.slice(-3000)).toBe(isBuilt.get(name));
  const output = join(folder, name, 'dist');
  if (imported.exit === 0 || !existsSync(output)) return;
  const built = await run(['import', '--built', output, '--site', site, '--yes']);
  expect(built.exit, built.err.slice(-3000)).toBe(0);
});
