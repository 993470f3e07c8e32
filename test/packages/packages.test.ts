/** What sites can import: the list, what is missing from it, and what the client and a failed build say about that. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { errorFirst } from '#api/deployments/failure-log.ts';
import { offeredPackages } from '#providers/sandbox/image/offered-packages.ts';
import { describe as describeFailure } from '#providers/sandbox/image/runner/failure.mjs';
import { nearest, packageOf } from '#providers/sandbox/image/runner/offered.mjs';
import { createFixture } from '#test/api/fixture.ts';
import { useBundledClient } from '#test/skill/bundled-client.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const client = useBundledClient();

test('every offered package is in one group, with its version', async () => {
  const agent = await fixture.newCaller();
  const { body } = await agent.call('GET', '/v1/packages');
  const listed = body.groups.flatMap(({ packages }: { packages: { name: string; version: string }[] }) => packages);
  expect(Object.fromEntries(listed.map((one: { name: string; version: string }) => [one.name, one.version]))).toEqual(
    offeredPackages,
  );
  expect(listed).toHaveLength(Object.keys(offeredPackages).length);
  expect(body.missing).toEqual([]);
  const unlike = ['quite-unlike-anything-else', 'constructor'];
  const names = ['astro-icon/components', 'moment', 'fs', 'node:fs', './x', 'moment', ...unlike];
  const query = names.map((name) => `name=${encodeURIComponent(name)}`).join('&');
  expect((await agent.call('GET', `/v1/packages?${query}`)).body.missing).toEqual([
    { name: 'moment', nearest: 'dayjs' },
    ...unlike.map((name) => ({ name, nearest: null })),
  ]);
});

test.each([
  ['astro-icon/components', 'astro-icon'],
  ['@astrojs/react/client.js', '@astrojs/react'],
  ['./a', undefined],
  ['../a', undefined],
  ['/a', undefined],
  ['~/a', undefined],
  ['@/a', undefined],
  ['astro:assets', undefined],
  ['https://a.example/x', undefined],
  ['__proto__', undefined],
])('the import %s names the package %s', (specifier, name) => expect(packageOf(specifier)).toBe(name));

test.each([
  ['@astrojs/tailwind', '@tailwindcss/vite'],
  ['remark-gmf', 'remark-gfm'],
  ['@fontsource/montserrat', '@fontsource-variable/montserrat'],
  ['astro-icons', 'astro-icon'],
  ['zzzzzzzzzzzzzzz', undefined],
  ['constructor', undefined],
  ['x'.repeat(5_000), undefined],
])('the nearest to %s is %s', (name, expected) => expect(nearest(name, offeredPackages)).toBe(expected));

test.each([
  ["Cannot find module 'moment'", '"moment" is not offered here; the nearest that is offered is "dayjs"'],
  ["Cannot find module 'constructor'", '"constructor" is not offered here'],
  ["Cannot find package 'astro-icons' imported from /x", '"astro-icons" is not offered here; the nearest'],
  ['[vite]: Rolldown failed to resolve import "firebase/app" from "/x".', '"firebase" is not offered here'],
  ['Preprocessor dependency "less" not found. Did you install it? Try `npm install -D less`.', '"sass"'],
  ['Please install and configure the appropriate server adapter for your final deployment.', 'Sites are static files'],
  ['fetch failed', 'A build has no network'],
])('a build that fails with %j says what to do here', (message, words) => {
  const failure = describeFailure(new Error(message), '/opt/frontage/site', offeredPackages);
  expect(failure.message).toContain(words);
  expect(failure.message).toContain('built output');
  expect(failure.text).toContain(message);
});

test('a fault of the site’s own module keeps its own words', () => {
  for (const message of ["Cannot find module './missing.ts'", 'Could not resolve "../a.astro"', 'The oven is cold'])
    expect(describeFailure(new Error(message), '/site', offeredPackages).message).not.toContain('offered');
});

test('a failed build is one sentence, and its log begins with the error', () => {
  const place = 'src/pages/pictures.astro:24:12';
  const words = "Closing tag '</figur>' has no matching opening tag.";
  const message = `Build failed with 1 error:\n[plugin astro:build] ${place} CompilerError: ${words}\n    at handle (file:///opt/x.js:67:11)`;
  const failure = describeFailure(new Error(message), '/site', offeredPackages);
  expect(failure.message).toBe(`${place}: ${words}`);
  const steps =
    '12:00:01 [build] ✓ Completed in 3ms.\n12:00:02 [WARN] [content] No posts.\n  ├─ /about/index.html (+2ms)\n';
  expect(errorFirst(`${steps}\nThe build failed.\n${failure.text}\n`)).toBe(
    `${failure.text}\n\nBefore that:\n12:00:02 [WARN] [content] No posts.\n`,
  );
  expect(errorFirst(steps)).toBe(steps);
});

test('the client lists what a folder imports and cannot, and not its aliases', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'frontage-check-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = {
    'tsconfig.json': '{ // aliases\n "compilerOptions": { "paths": { "@components/*": ["src/components/*"] } } }',
    'src/pages/index.astro': `---
      import Icon from 'astro-icon/components';
      import moment from "moment";
      import Card from '@components/Card.astro';
      import { a } from 'src/a.ts';
      import { b } from 'src/b';
      import fs from 'node:fs';
      ---`,
    'src/a.ts': "export const a = await import('firebase/app');",
    // A program that compares each with all that follow takes minutes.
    'src/names.ts': 'import '.repeat(50_000),
    'src/styles.css': '@import "tailwindcss"; @plugin "tailwind-nothing";',
    'node_modules/x/index.js': "import 'left-out';",
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const { token } = await fixture.newCaller();
  const run = async (...args: string[]) => {
    const env = { ...process.env, FRONTAGE_URL: fixture.url, FRONTAGE_TOKEN: token, HOME: folder };
    const child = spawn(process.execPath, [client, 'check', folder, ...args], { env });
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    return { out, code };
  };
  const { out, code } = await run('--json');
  expect(JSON.parse(out).missing).toEqual([
    { name: 'firebase', nearest: null, files: ['src/a.ts'] },
    { name: 'moment', nearest: 'dayjs', files: ['src/pages/index.astro'] },
    { name: 'tailwind-nothing', nearest: null, files: ['src/styles.css'] },
  ]);
  expect(code).not.toBe(0);
  await rm(join(folder, 'src'), { recursive: true });
  expect((await run()).code).toBe(0);
});
