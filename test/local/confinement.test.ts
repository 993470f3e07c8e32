/** What each service of `docker-compose.yml` gets: settings, secrets and capabilities. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '#runtime/config.ts';
import { freePort } from '#tools/local/ports.ts';
import { findPowerDns } from '#tools/local/services/powerdns.ts';
import { searchAttributes } from '#tools/local/services/temporal.ts';

type Service = {
  image: string;
  environment?: Record<string, string | null>;
  env_file?: unknown;
  secrets?: string[];
  volumes?: string[];
  cap_add?: string[];
};

const root = join(import.meta.dirname, '../..');
const compose = parse(await readFile(join(root, 'docker-compose.yml'), 'utf8'), { merge: true });
const services = Object.entries(compose.services as Record<string, Service>);
const ours = services.filter(([, { image }]) => image.includes('frontage'));

test('every secret is a file, and every setting is one that exists', () => {
  const known = new Set<string>();
  // For each setting it asks whether there is a file.
  const asked = new Proxy({} as NodeJS.ProcessEnv, { get: (_all, name) => void known.add(String(name)) });
  expect(() => readConfig(asked)).toThrow('FRONTAGE_SECRET: Invalid input');
  const unsecret = {
    FRONTAGE_SEALING_KEYS: 'none',
    FRONTAGE_BILLING_KEY: expect.stringMatching(/^(\$\{\w+:\+metered\})+$/),
  };
  for (const [, { environment = {}, secrets = [] }] of ours) {
    const files = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'));
    expect(files.map(([, file]) => String(file).replace('/run/secrets/', '')).sort()).toEqual(secrets.toSorted());
    const named = Object.entries(environment).filter(([name]) => /(SECRET|KEYS?|PASSWORD|DATABASE_URL)$/.test(name));
    expect({ ...unsecret, ...Object.fromEntries(named) }).toEqual(unsecret);
    for (const name of Object.keys(environment)) expect(known).toContain(`${name.replace(/_FILE$/, '')}_FILE`);
  }
  expect(compose.services['search-attributes'].command[0]).toContain(searchAttributes.join(' '));
});

test('a process gets only the secrets that it needs', () => {
  const stored = ['database_url', 's3_key_id', 's3_secret'];
  const signing = [...stored, 'frontage_secret', 'sealing_keys'];
  expect(Object.fromEntries(ours.map(([name, { secrets = [] }]) => [name, secrets.toSorted()]))).toEqual({
    migrate: ['builds_database_url', 'database_url', 'unused_secret'],
    api: [...signing, 'challenge_key', 'zones_key'].sort(),
    edge: signing.toSorted(),
    worker: [...signing, 'zones_key'].sort(),
    builds: ['builds_database_url', 's3_key_id', 's3_secret', 'unused_secret'],
    browser: ['builds_database_url', 's3_key_id', 's3_secret', 'unused_secret'],
  });
  // The file .env may contain the keys of the payment provider, of e-mail and of backups.
  expect(ours.filter(([, { env_file }]) => env_file).map(([name]) => name)).toEqual(['api', 'worker']);
});

test('SECURITY.md says what each process holds', async () => {
  const text = await readFile(join(root, 'SECURITY.md'), 'utf8');
  const [, section = ''] = text.split('### What each process holds\n');
  const listed = section
    .slice(0, section.indexOf('\n\n`unused_secret`'))
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const named = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name).sort();
  const told = listed.map((line) => {
    const [, name, secrets, env, mounted, networks] = line.split('|');
    return [
      named(name)[0],
      { secrets: named(secrets), env: env?.trim() === 'all', mounted: named(mounted), networks: named(networks) },
    ];
  });
  const held = services.map(([name, { secrets = [], env_file, volumes = [] }]) => {
    const mounted = volumes.map((volume) => volume.slice(0, volume.indexOf(':'))).sort();
    return [name, { secrets: secrets.toSorted(), env: env_file !== undefined, mounted, networks: networksOf(name) }];
  });
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(held));
});

test('the builds worker shares no network with the mailbox, and the engine has none', () => {
  expect(networksOf('builds').filter((name) => networksOf('mail').includes(name))).toEqual([]);
  for (const sender of ['api', 'worker'])
    expect(networksOf(sender)).toEqual(expect.arrayContaining(networksOf('mail')));
  expect(compose.services.engine.network_mode).toBe('none');
});

function networksOf(service: string): string[] {
  const { networks = [] } = compose.services[service];
  return (Array.isArray(networks) ? networks : Object.keys(networks)).sort();
}

test('the builds worker connects to the database by a role of its own', () => {
  const { migrate, builds, worker } = compose.services;
  expect(builds.environment.DATABASE_URL_FILE).toBe(migrate.environment.FRONTAGE_BUILDS_DATABASE_URL_FILE);
  expect(builds.environment.DATABASE_URL_FILE).not.toBe(worker.environment.DATABASE_URL_FILE);
});

test('the settings of each process are complete without those of other processes', () => {
  const values = {
    database_url: 'postgres://a:b@db/c',
    builds_database_url: 'postgres://d:e@db/c',
    sealing_keys: `v1:${'0'.repeat(64)}`,
  };
  for (const [, { environment = {} }] of ours) {
    const given = Object.entries(environment).flatMap(([name, value]) => {
      if (value === null) return [];
      if (!name.endsWith('_FILE')) return [[name, withoutVariables(value)]];
      const secret = value.replace('/run/secrets/', '');
      return [[name.replace(/_FILE$/, ''), values[secret as keyof typeof values] ?? 'x'.repeat(64)]];
    });
    const config = readConfig(Object.fromEntries(given));
    expect([config.baseDomain, config.billing]).toEqual(['sites.localhost', undefined]);
  }
});

/** As compose replaces variables of which none is set. */
const withoutVariables = (value: unknown) =>
  String(value).replace(/\$\{\w+(?::?-([^}]*)|:\+\w*)\}/g, (_all, otherwise) => otherwise ?? '');

/** Without these, bubblewrap makes no namespaces in a container. Chromium's own wall is stricter. */
const withNamespaces = [
  'no-new-privileges:true',
  'seccomp=unconfined',
  'apparmor=unconfined',
  'systempaths=unconfined',
];

test('no service but the engine has privileges, or more capabilities than it needs', () => {
  const confined = services.filter(([name]) => name !== 'engine');
  for (const [name, service] of confined) {
    const options = name === 'browser' ? withNamespaces : ['no-new-privileges:true'];
    expect(service, name).toMatchObject({ cap_drop: ['ALL'], security_opt: options });
  }
  expect(Object.fromEntries(confined.flatMap(([name, { cap_add }]) => (cap_add ? [[name, cap_add]] : [])))).toEqual({
    postgres: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
    pdns: ['NET_BIND_SERVICE'],
  });
});

test('PowerDNS starts as in docker-compose.yml, without its key on the command line', { tags: 'powerdns' }, async ({
  onTestFinished,
}) => {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-pdns-'));
  const port = await freePort();
  await writeFile(join(dir, 'zones_key'), 'the-key-of-zones');
  const found = findPowerDns();
  if ('missing' in found) throw new Error('PowerDNS is not installed.');
  const database = new DatabaseSync(join(dir, 'pdns.sqlite3'));
  database.exec(await readFile(found.schema, 'utf8'));
  database.close();
  const script = compose.services.pdns.command[0]
    .replaceAll('$$', '$')
    .replaceAll('/tmp', dir)
    .replaceAll('/run/secrets', dir)
    .replaceAll('/var/lib/powerdns', dir)
    .replace('/usr/local/sbin/pdns_server', found.command)
    .replace(
      'webserver-address=0.0.0.0',
      `webserver-address=127.0.0.1\nwebserver-port=${port}\nlocal-address=127.0.0.1`,
    )
    .replace('webserver-allow-from=172.28.0.0/24', `webserver-allow-from=127.0.0.1\nlocal-port=${await freePort()}`)
    .replace('--daemon=no', `--daemon=no --socket-dir=${dir}`);
  const server = spawn('sh', ['-c', script], { stdio: 'ignore' });
  onTestFinished(async () => {
    server.kill('SIGKILL');
    await rm(dir, { recursive: true });
  });
  const ask = (key: string) =>
    fetch(`http://127.0.0.1:${port}/api/v1/servers/localhost`, { headers: { 'x-api-key': key } }).then(
      ({ status }) => status,
      () => undefined,
    );
  await expect.poll(() => ask('the-key-of-zones'), { timeout: 10_000, interval: 50 }).toBe(200);
  expect(await ask('another')).toBe(401);
  expect((await stat(join(dir, 'pdns.conf'))).mode & 0o777).toBe(0o600);
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'args=', '-p', String(server.pid)]);
  expect(stdout).toContain('pdns_server');
  expect(stdout).not.toContain('the-key-of-zones');
});
