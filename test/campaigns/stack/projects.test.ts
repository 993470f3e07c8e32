/**
 * Public projects, each imported with the client as it is and published: three in the tree, and those of the folder that `--projects <folder>`
 * names. docs/projects.md lists them, and which are built from source. The long form compares the bytes with those of Astro's own command.
 */
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { newTerminal } from '#test/acceptance/terminal.ts';
import { isLong } from '#test/campaigns/size.ts';
import { sha256 } from '#test/edge/prober.ts';
import { buildPlainly, withoutIds } from '#test/sandbox/plain.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { useStack } from '#test/stack/stack.ts';

const inTree = join(import.meta.dirname, '../projects');
const checkouts = await pathOf('projects');
const stack = useStack();
const { run, close } = await newTerminal(`${stack.baseUrl}/skill/bin/frontage.mjs`);
afterAll(close);

const document = await readFile(join(import.meta.dirname, '../../../docs/projects.md'), 'utf8');
const rows = document.matchAll(/^\| `([\w.-]+)` .*\| (source|output|nothing) +\| *([^|]*?) *\|$/gm);
const listed = [...rows].map(([, name = '', live, note]) => ({ name, live, note }));
const present = new Set(checkouts === '' ? [] : await readdir(checkouts));

/** Imports a project into a site and an account of its own. Prints what the client reports. */
async function importProject(folder: string, name: string) {
  const site = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const { token } = await stack.openOwner();
  const startedAt = performance.now();
  const imported = await run(['import', join(folder, name), '--yes'], { env: { FRONTAGE_TOKEN: token } });
  const isLive = imported.exit === 0;
  const lines = imported.err.trim().split('\n');
  const said = isLive ? lines.filter((line) => /^[✓!]/.test(line)) : lines.slice(-12);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log([`${name}: ${isLive ? 'built' : 'not built'} (${seconds} s)`, ...said].join('\n  '));
  if (isLive) expect((await stack.visit(site, '/')).status).toBe(200);
  return { site, token, isLive, log: imported.err.slice(-3000) };
}

/** The paths whose bytes differ between what is live and what Astro's own command makes of the same project. */
async function differences(project: string, site: string, token: string): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), 'frontage-project-'));
  try {
    const isOutput = (path: string) => ['node_modules', 'dist', '.astro'].includes(basename(path));
    await cp(project, root, { recursive: true, filter: (path) => !isOutput(path) });
    const { body } = await stack.api('/v1/sites?limit=100', { token });
    const { live_deployment_id: id, address } = body.items.find((one: { name: string }) => one.name === site);
    const plain = await buildPlainly(root, '--site', address, '--base', '/').catch((error) =>
      console.log(error.message),
    );
    if (!plain) return ['Astro’s own command fails'];
    const live = await manifestOf(id, token);
    const differing: string[] = [];
    for (const path of [...new Set([...plain.keys(), ...live.keys()])].sort()) {
      const bytes = plain.get(path);
      if (bytes && live.get(path) === sha256(bytes)) continue;
      const visited = live.has(path) && bytes ? (await stack.visit(site, addressOf(path))).body : undefined;
      const [here, elsewhere] = [visited, bytes].map(withoutIds);
      if (here !== undefined && here === elsewhere) continue;
      if (differing.push(path) === 1) console.log(`${path}\n${firstDifference(here ?? '', elsewhere ?? '')}`);
    }
    return differing;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Where two texts begin to differ. */
function firstDifference(here: string, elsewhere: string): string {
  let at = 0;
  while (at < here.length && here[at] === elsewhere[at]) at++;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 80), at + 160));
  return `  here:      ${around(here)}\n  elsewhere: ${around(elsewhere)}`;
}

const addressOf = (path: string) =>
  `/${encodeURI(path)
    .replace(/(^|\/)index\.html$/, '$1')
    .replace(/\.html$/, '')}`;

async function manifestOf(id: string, token: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (let cursor = ''; ; ) {
    const { body } = await stack.api(`/v1/deployments/${id}/files?limit=100${cursor}`, { token });
    for (const { path, sha256 } of body.items) files.set(path, sha256);
    if (body.next_cursor === null) return files;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}

test.each((await readdir(inTree)).filter((name) => name !== 'LICENSE'))(
  '%s is imported, built and the same as elsewhere',
  async (name) => {
    const { site, token, isLive, log } = await importProject(inTree, name);
    expect(isLive, log).toBe(true);
    expect(await differences(join(inTree, name), site, token)).toEqual([]);
  },
  600_000,
);

describe('checkouts', { tags: 'projects' }, () => {
  test('there is a folder of them', () => {
    const missing = listed.filter(({ name }) => !present.has(name)).map(({ name }) => name);
    if (missing.length > 0) console.log(`${checkouts} has no checkout of ${missing.join(', ')}`);
    expect(missing.length, 'the names are those of the first column of docs/projects.md').toBeLessThan(listed.length);
  });

  const tried = listed.filter(({ name }) => present.has(name));
  test.for(tried)('$name is imported and live as the list says', { timeout: 600_000 }, async (row) => {
    const { name, live, note } = row;
    const { site, token, isLive, log } = await importProject(checkouts, name);
    if (!isLive) {
      expect(live, log).not.toBe('source');
      const output = join(checkouts, name, 'dist');
      const isBuilt = (await readdir(output).catch(() => [])).length > 0;
      if (isBuilt) expect(await isOutputLive(output, site, token)).toBe(live === 'output');
      return;
    }
    const differing = isLong ? await differences(join(checkouts, name), site, token) : undefined;
    if (differing) console.log(`${name}: ${differing.length === 0 ? 'the same bytes' : `differs: ${differing}`}`);
    expect(live).toBe('source');
    if (differing) expect(differing.length > 0, 'the list says what differs').toBe(note !== '');
  });
});

/** Publishes the output of the project's own build. Prints the reason where that fails. */
async function isOutputLive(output: string, site: string, token: string): Promise<boolean> {
  const args = ['import', '--built', output, '--site', site, '--yes'];
  const { exit, err } = await run(args, { env: { FRONTAGE_TOKEN: token } });
  console.log(`${site}: ${exit === 0 ? 'live as built output' : `its output is refused:\n${err.slice(-3000)}`}`);
  if (exit === 0) expect((await stack.visit(site, '/')).status).toBe(200);
  return exit === 0;
}
