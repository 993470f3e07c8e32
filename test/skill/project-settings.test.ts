/** What an import changes in the settings of a project, and what it says of them. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { headerNames, parseHeadersFile } from '#providers/headers/file.ts';
import { planOf } from '#skill/client/project.js';
import { headerNames as acceptedHere, changesOf } from '#skill/client/project-settings.js';

const folder = await mkdtemp(join(tmpdir(), 'frontage-settings-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a base other than the root is changed, and said', async () => {
  const project = await mkdtemp(join(folder, 'base-'));
  const changesWith = async (config: string) => {
    await writeFile(join(project, 'astro.config.mjs'), config);
    const { texts, notes } = await changesOf(project, await planOf(project));
    return [texts.get('astro.config.mjs'), notes.map((note) => note.replace(/ (?:which|the root) .*/, ''))];
  };
  const set = "export default {\n  // base: '/old',\n  site: 'https://x.example/repo', base: '/repo/',\n};\n";
  const computed = 'astro.config.mjs computes base,';
  expect(await changesWith(set)).toEqual([set.replace("'/repo/'", "'/'"), ['astro.config.mjs: base /repo/ → /,']]);
  expect(await changesWith('export default { base: process.env.BASE };')).toEqual([undefined, [computed]]);
  expect(await changesWith("export default { base: '/', database: 'x' };")).toEqual([undefined, []]);
  expect(await changesWith('export default {};')).toEqual([undefined, []]);
});

test('public variables that are left out are named, without their values', async () => {
  const project = await mkdtemp(join(folder, 'variables-'));
  await mkdir(join(project, 'web'));
  const lines = 'PUBLIC_A=secret\nexport PUBLIC_B = "secret"\n# PUBLIC_C=secret\nPUBLIC_SET=secret\nKEY=secret\n';
  await writeFile(join(project, 'web', '.env'), lines);
  await writeFile(join(project, 'web', '.env.example'), lines);
  await writeFile(join(project, 'web', '.env.production'), 'KEY=secret\n');
  await writeFile(join(project, 'frontage.toml'), '[build]\nroot = "web"\n[env]\nPUBLIC_SET = "x"\n');
  const { notes } = await changesOf(project, await planOf(project));
  expect(notes).toEqual([expect.stringMatching(/^web\/\.env is left out, with PUBLIC_A, PUBLIC_B: .*\[env\]/)]);
  expect(notes.join()).not.toContain('secret');
});

test('the lines of _headers that the service would refuse are named', async () => {
  expect([...acceptedHere].sort()).toEqual([...headerNames].sort());
  const project = await mkdtemp(join(folder, 'headers-'));
  const text = '\uFEFF# all\n/*\r\n  X-Frame-Options: DENY\n  Strict-Transport-Security: max-age=1\n';
  await mkdir(join(project, 'public'));
  await writeFile(join(project, 'public', '_headers'), `${text}https://a.example/*\n  Link: <x>\n! Link\n`);
  const { faults } = await changesOf(project, await planOf(project));
  const line = (number: number, name: string) =>
    `Line ${number} of public/_headers sets ${name}, which a site cannot set.`;
  expect(faults).toEqual([line(4, 'Strict-Transport-Security'), line(5, 'https'), line(7, '! Link')]);
  expect(() => parseHeadersFile(Buffer.from(text))).toThrow('Line 4 of _headers');
});

test('collections without a loader stay filled, or are named', async () => {
  const project = await mkdtemp(join(folder, 'collections-'));
  await mkdir(join(project, 'src', 'content'), { recursive: true });
  const changesWith = async (collections: string, config: string) => {
    await writeFile(join(project, 'src', 'content', 'config.ts'), collections);
    await writeFile(join(project, 'astro.config.mjs'), config);
    const { texts, notes } = await changesOf(project, await planOf(project));
    return { config: texts.get('astro.config.mjs'), notes };
  };
  const filled = 'legacy: { collectionsBackwardsCompat: true },';
  const without = 'export const collections = { blog: defineCollection({ schema }) };';
  const set = await changesWith(without, 'export default defineConfig({ site });');
  expect(set.config).toBe(`export default defineConfig({\n  ${filled} site });`);
  expect(set.notes).toEqual([expect.stringContaining('src/content/config.ts defines collections without a loader')]);
  expect((await changesWith(without, 'export default { base: "/x" };')).config).toBe(
    `export default {\n  ${filled} base: "/" };`,
  );
  const unknown = await changesWith(without, 'export default defineConfig({ legacy: { collections: true } });');
  expect(unknown).toEqual({
    config: undefined,
    notes: [expect.stringMatching(/^In src\/content\/config\.ts, add a loader/)],
  });
  const loaded = "export const collections = { blog: defineCollection({ loader: glob({ base: 'x' }) }) };";
  expect(await changesWith(loaded, 'export default {};')).toEqual({ config: undefined, notes: [] });
});
