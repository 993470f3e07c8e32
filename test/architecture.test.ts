import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);
const self = relative(root, import.meta.filename);

/** Files of the project: what git tracks, and what it would. */
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && file !== self && existsSync(join(root, file)));

const text = (file: string) => readFileSync(join(root, file), 'utf8');
const isIn = (file: string, folders: string[]) => folders.some((folder) => file.startsWith(`${folder}/`));
const code = files.filter((file) => /\.(ts|mjs)$/.test(file) && !isIn(file, ['templates']));
const harness = ['local', 'scripts', 'test', 'bench'];
const product = code.filter((file) => file.endsWith('.ts') && !isIn(file, harness) && file !== 'vitest.config.ts');

/** `file:line` of every match, so that a failure points at the place. */
function places(among: string[], pattern: RegExp): string[] {
  return among.flatMap((file) =>
    text(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : [])),
  );
}

/** What a file imports at run time; imports of types vanish with them. */
function imports(file: string): string[] {
  const found = text(file).matchAll(
    /^\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\bfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm,
  );
  return [...found]
    .map((match) => match[1] ?? match[2] ?? '')
    .map((name) => (name.startsWith('.') ? resolveFrom(file, name) : name));
}

const resolveFrom = (file: string, name: string) => relative(root, join(root, dirname(file), name));

/** For each layer, what it may stand on besides itself. `.` are the files beside package.json. */
const basics = [
  'config.ts',
  'errors.ts',
  'remedies.ts',
  'limits.ts',
  'plans.ts',
  'caps.ts',
  'ids.ts',
  'clock.ts',
  'log.ts',
  'telemetry/cause.ts',
  'telemetry/spans.ts',
  'telemetry/metrics.ts',
  'sealing.ts',
  'currencies.ts',
  'kept-versions.ts',
  'package.json',
];
const pure = ['workflows/ids.ts', 'db/states.ts'];
const layers: Record<string, string[]> = {
  '.': [...basics, 'db', 'providers'],
  telemetry: [...basics, 'deps.ts', 'db', 'providers'],
  db: [...basics, ...pure, 'bookings', 'domains'],
  bookings: basics,
  domains: [...basics, 'db/states.ts'],
  sandbox: basics,
  templates: basics,
  skill: basics,
  providers: [...basics, ...pure, 'domains', 'sandbox', 'templates'],
  web: basics,
  mails: [...basics, 'web/html.ts'],
  git: [...basics, ...pure, 'db', 'providers'],
  backups: [...basics, ...pure, 'db', 'providers'],
  exports: [...basics, ...pure, 'db', 'providers', 'git', 'api', 'backups'],
  workflows: [...pure, 'limits.ts'],
  activities: [...basics, 'deps.ts', 'db', 'domains', 'providers', 'git', 'mails', 'workflows/ids.ts'],
  api: [
    ...basics,
    'deps.ts',
    'telemetry',
    'db',
    'providers',
    'git',
    'templates',
    'skill',
    'web',
    'bookings',
    'domains',
    'workflows/ids.ts',
  ],
  edge: [...basics, 'deps.ts', 'telemetry', 'db', 'providers', 'web'],
  worker: [...basics, 'deps.ts', 'telemetry', 'db', 'providers', 'activities', 'workflows', 'sandbox'],
};
const layerOf = (file: string) => (file.includes('/') ? (file.split('/')[0] as string) : '.');

test('every layer stands on those below it and on no other', () => {
  const wrong = product.flatMap((file) => {
    const layer = layerOf(file);
    const allowed = layers[layer];
    if (!allowed) return [`${file} is in a folder that no layer names`];
    const own = layer === '.' ? basics : [layer];
    return imports(file)
      .filter((name) => /\.(ts|mjs|json)$/.test(name))
      .filter((name) => ![...own, ...allowed].some((one) => name === one || name.startsWith(`${one}/`)))
      .map((name) => `${file} imports ${name}`);
  });
  expect(wrong).toEqual([]);
});

test('an image has the folder of every layer, and `npm run dev` watches what an image has', () => {
  const taken = [...text('.dockerignore').matchAll(/^!([a-z]+)$/gm)].map(([, folder]) => folder);
  const folders = Object.keys(layers).filter((layer) => layer !== '.');
  expect(taken.sort()).toEqual([...folders, 'scripts'].sort());
});

test('workflows reach nothing but other pure modules', () => {
  const reached = new Set(product.filter((file) => layerOf(file) === 'workflows'));
  const outside: string[] = [];
  for (const file of reached) {
    for (const name of imports(file)) {
      if (name.endsWith('.ts')) reached.add(name);
      else if (!/^@temporalio\/(workflow|common)$/.test(name)) outside.push(`${file} imports ${name}`);
    }
  }
  expect(outside).toEqual([]);
});

test('the environment is read in config.ts alone', () => {
  expect(
    places(
      product.filter((file) => file !== 'config.ts'),
      /process\.env\b/,
    ),
  ).toEqual([]);
});

test('the time of day comes from the clock', () => {
  const others = ['test', 'bench', 'skill/bin'];
  const elsewhere = code.filter((file) => !['deps.ts', 'clock.ts'].includes(file) && !isIn(file, others));
  expect(places(elsewhere, /\bDate\.now\(|\bnew Date\(\)|(?<![.\w])now\(\)(?!:)|\bcurrent_timestamp\b/i)).toEqual([]);
});

/** Files over the length that a reader takes in at once, and why they are. */
const long: Record<string, string> = {
  'config.ts': 'a table: every setting in one place',
  'api/app.ts': 'the sitemap: every address of the API in one place',
  'errors.ts': 'a table: every error code in one place',
  'skill/bin/frontage.mjs': 'the terminal client: an agent takes it as one file',
};

test('a file is at most 250 lines long, or says why not', () => {
  const over = code.filter((file) => text(file).split('\n').length > 251);
  expect(over.filter((file) => !(file in long))).toEqual([]);
  expect(Object.keys(long).filter((file) => !over.includes(file))).toEqual([]);
});

const written = files.filter((file) => !/\.(png|jpe?g|webp|avif|gif|woff2?|ico|bin|pack)$/.test(file));

test('nothing is left to be done later', () => {
  expect(places(written, /\b(TODO|FIXME|XXX)\b/)).toEqual([]);
});

test('nothing speaks of the machine that it was written on, nor of a package registry', () => {
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

test('one version of Node is pinned, for the packages and for version managers', () => {
  expect(text('.nvmrc').trim()).toBe(JSON.parse(text('package.json')).dependencies.node);
});
