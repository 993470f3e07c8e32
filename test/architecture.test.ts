import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { files as all, text } from './source-files.ts';

const root = dirname(import.meta.dirname);
const self = relative(root, import.meta.filename);
const files = all.filter((file) => file !== self);
const isIn = (file: string, folders: string[]) => folders.some((folder) => file.startsWith(`${folder}/`));
const code = files.filter(
  (file) => /\.(ts|mjs|js)$/.test(file) && !isIn(file, ['templates', 'test/campaigns/projects']),
);
const harness = ['tools', 'test'];
const product = code.filter((file) => file.endsWith('.ts') && !isIn(file, harness) && file !== 'vitest.config.ts');

/** `file:line` of every match, so that a failure points at the place. */
function places(among: string[], pattern: RegExp): string[] {
  return among.flatMap((file) =>
    text(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : [])),
  );
}

/** What a file imports at run time, paths from the root; with `types`, also what vanishes with them. */
function imports(file: string, types = false): string[] {
  const found = text(file).matchAll(
    /^\s*(?:import|export)\s+(type\b)?(?:[^'";]*?\bfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm,
  );
  return [...found]
    .filter((match) => types || !match[1])
    .map((match) => match[2] ?? match[3] ?? '')
    .map((name) => (name.startsWith('#') ? name.slice(1) : name.startsWith('.') ? resolveFrom(file, name) : name));
}

const resolveFrom = (file: string, name: string) => relative(root, join(root, dirname(file), name));

/**
 * The rooms, from the ground up. A room imports from those before it; what it imports from those after it is an arrow upward, listed below
 * with its reason. Imports of types count as well.
 */
const rooms = [
  'rules',
  'runtime',
  'providers',
  'db',
  'web',
  'templates',
  'skill',
  'git',
  'activities',
  'workflows',
  'api',
  'edge',
  'operator',
  'worker',
  'tools',
];
const upward: Record<string, string> = {
  'runtime → providers': 'deps.ts connects what every process is made of',
  'runtime → db': 'deps.ts connects the database; metrics are read from it',
  'providers → web': 'the type of a mail',
  'db → web': 'the types of mails, which are queued as rows',
};
const roomOf = (file: string) => (file.includes('/') ? (file.split('/')[0] as string) : '.');

/** Every arrow from a room to another, with the files that draw it. */
const arrows = Map.groupBy(
  product
    .concat(code.filter((file) => isIn(file, ['tools'])))
    .flatMap((file) => imports(file, true).map((name) => ({ file, from: roomOf(file), to: roomOf(name), name })))
    .filter(({ from, to, name }) => from !== to && /\.(ts|mjs|json)$/.test(name) && name !== 'package.json'),
  ({ from, to }) => `${from} → ${to}`,
);

test('a folder imports from those below it; each exception has its reason', () => {
  const isUpward = (arrow: string) => {
    const [from = '', to = ''] = arrow.split(' → ');
    return !rooms.includes(from) || rooms.indexOf(to) > rooms.indexOf(from) || !rooms.includes(to);
  };
  const up = [...arrows].filter(([arrow]) => isUpward(arrow));
  expect(up.filter(([arrow]) => !(arrow in upward)).map(([arrow, files]) => `${arrow}: ${files[0]?.file}`)).toEqual([]);
  expect(Object.keys(upward).filter((arrow) => !arrows.has(arrow))).toEqual([]);
  expect(up.length).toBeLessThanOrEqual(4);
  expect(arrows.size).toBeLessThanOrEqual(60);
});

test('rules are pure: they import no effects', () => {
  const acting = product
    .filter((file) => roomOf(file) === 'rules')
    .flatMap((file) => imports(file).map((name) => ({ file, name })))
    .filter(({ name }) => !/^rules\/|^temporal-polyfill|^tldts$|^zod$|^node:(url|net)$/.test(name));
  expect(acting).toEqual([]);
});

test('imports from other folders use root paths, imports from the same folder relative ones', () => {
  const relatives = code.filter((file) => !isIn(file, ['skill/client', 'providers/sandbox/image']));
  expect(places(relatives, /^\s*(?:import|export|\}) .*\bfrom '\.\.\//)).toEqual([]);
});

test('the root and every folder are small enough to read at a glance', () => {
  const shown = files.filter((file) => !file.startsWith('.'));
  const folders = new Set(shown.filter((file) => file.includes('/')).map(roomOf));
  expect([...folders].length).toBeLessThanOrEqual(18);
  expect(shown.filter((file) => !file.includes('/')).length).toBeLessThanOrEqual(14);
  const full = [...Map.groupBy(shown, dirname)].filter(
    ([folder, inside]) => inside.length > 25 && !/migrations$|histories$|^templates\//.test(folder) && folder !== '.',
  );
  expect(full.map(([folder, inside]) => `${folder}: ${inside.length}`)).toEqual([]);
});

test('an image has every runtime folder, and `npm run dev` watches the same', () => {
  const taken = [...text('.dockerignore').matchAll(/^!([a-z]+)$/gm)].map(([, folder]) => folder);
  expect(taken.sort()).toEqual(rooms.filter((room) => room !== 'tools').sort());
});

test('workflows import only pure modules', () => {
  const reached = new Set(product.filter((file) => roomOf(file) === 'workflows'));
  const outside: string[] = [];
  for (const file of reached) {
    for (const name of imports(file)) {
      if (name.endsWith('.ts')) reached.add(name);
      else if (!/^@temporalio\/(workflow|common)$/.test(name)) outside.push(`${file} imports ${name}`);
    }
  }
  expect(outside).toEqual([]);
  // worker/bundle.ts caches the bundle under a hash of these two folders.
  expect([...reached].filter((file) => !isIn(file, ['workflows', 'rules']))).toEqual([]);
});

test('only runtime/config.ts reads the environment', () => {
  expect(
    places(
      product.filter((file) => file !== 'runtime/config.ts'),
      /process\.env\b/,
    ),
  ).toEqual([]);
});

test('packages that delay a start are loaded at their first use', () => {
  const delaying = /^(import|\}) (?!type\b).*\bfrom '(stripe|yaml|nodemailer|@modelcontextprotocol\/sdk)\b/;
  expect(
    places(
      product.filter((file) => file !== 'api/mcp/server.ts'),
      delaying,
    ),
  ).toEqual([]);
  expect(places(product, /^(import|\}) (?!type\b).*\bfrom '(\.|#api\/mcp)\/server\.ts'/)).toEqual([]);
});

test('only the clock reads the time of day', () => {
  const others = ['test', 'tools/bench', 'skill/client'];
  // A script in a visitor's browser has no other clock.
  const isBrowser = (file: string) => file.startsWith('web/') && file.endsWith('.js');
  const elsewhere = code.filter(
    (file) => !['runtime/deps.ts', 'runtime/clock.ts'].includes(file) && !isIn(file, others) && !isBrowser(file),
  );
  expect(places(elsewhere, /\bDate\.now\(|\bnew Date\(\)|(?<![.\w])now\(\)(?!:)|\bcurrent_timestamp\b/i)).toEqual([]);
});

test('a file is at most 250 lines long', () => {
  expect(code.filter((file) => text(file).split('\n').length > 251)).toEqual([]);
});

const written = files.filter((file) => !/\.(png|jpe?g|webp|avif|gif|woff2?|ico|bin|pack)$/.test(file));

test('the tree contains no TODO', () => {
  expect(places(written, /\b(TODO|FIXME|XXX)\b/)).toEqual([]);
});

test('the tree names neither its author’s machine nor a package registry', () => {
  // Hostile builds in tests ask for dot files of root.
  const machine = /(?<![\w.])\/(work|root(?!\/\.)|home\/\w+)\//;
  expect(places(written, machine)).toEqual([]);
  expect(
    places(written, /\b(registry\.npmjs\.org|proxy\.golang\.org|deb\.debian\.org|pypi\.org|maven\.org)\b/),
  ).toEqual([]);
  expect(
    places(
      written.filter((file) => file.endsWith('package-lock.json')),
      /"resolved": "http/,
    ),
  ).toEqual([]);
});
