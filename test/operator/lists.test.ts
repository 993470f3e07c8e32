/** What an operator lists comes in pages, and what he has looked at or stopped is looked at and stopped. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import type { Option } from '#operator/commands/command.ts';
import { commands, readCommand } from '#operator/commands/commands.ts';
import { listed } from '#operator/commands/listing.ts';
import { createDiskStore } from '#providers/store/disk.ts';
import { createSite } from '#test/api/fixture.ts';
import { createFixture } from '#test/output/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());

// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is what it asserts.
async function ask(...args: string[]): Promise<any> {
  const { command, given } = readCommand(args);
  const { config, clock } = fixture;
  return JSON.parse(
    JSON.stringify(await command?.run({ em: fixture.deps.em(), config, clock }, given as Record<Option, string>)),
  );
}

const many = listed + 5;
async function insert(sql: string, from = ''): Promise<void> {
  const now = fixture.clock.now();
  await fixture.deps.em().execute(`insert into ${sql} from ${from} generate_series(1, ${many}) n`, [now]);
}
const numbered = (prefix: string) => `'${prefix}_' || lpad(n::text, 4, '0')`;

test('every list ends and names its next page, and pages contain each item once', async () => {
  const owner = await fixture.newCaller();
  const { accountId } = owner;
  await insert(
    `account (id, name, email, created_at) select ${numbered('acct_many')}, 'Many', 'many' || n || '@example.com', ?`,
  );
  await insert(
    `feedback (id, account_id, kind, message, created_at) select ${numbered('note')}, '${accountId}', 'missing', 'm' || n, ?`,
  );
  await insert(
    `outbox (id, kind, workflow_id, message, created_at) select ${numbered('out')}, 'signal', 'w', '{"signal":"s"}', ?`,
  );
  // Two of them end at the same moment, on either side of a page's end.
  await insert(
    `plan_grant (id, account_id, plan, created_at, ends_at) select ${numbered('grant')}, ${numbered('acct_many')}, 'studio', ?::timestamptz, timestamptz '2999-01-01' + (n / 2) * interval '1 day'`,
  );
  const site = await createSite(owner);
  await insert(
    `flag (id, site_id, path, kind, sha256, excerpt, found_at) select ${numbered('flag')}, '${site.id}', n || '.html', 'redirect', '', '', ?`,
  );
  // All of them found at one moment.
  await insert(
    `ledger_flag (subject, why, found_at, seen_at) select ${numbered('ch')}, 'no such attempt', t, t`,
    '(select ?::timestamptz as t) as at,',
  );
  expect(await ask('flags', 'show', '--flag', `flag_0${many}`)).toMatchObject({
    path: `${many}.html`,
    site: site.name,
  });
  for (const [list, idOf] of [
    [['account', 'list', '--match', 'many'], 'id'],
    [['feedback', 'list'], 'id'],
    [['outbox', 'list'], 'id'],
    [['plan', 'list'], 'account_id'],
    [['flags', 'list'], 'id'],
    [['ledger', 'list'], 'subject'],
  ] as const) {
    const first = await ask(...list);
    expect([list, first.items.length, typeof first.next]).toEqual([list, listed, 'string']);
    const second = await ask(...list, '--after', first.next);
    expect([list, second.items.length, second.next]).toEqual([list, 5, null]);
    const ids = [...first.items, ...second.items].map((item: Record<string, string>) => item[idOf]);
    expect(new Set(ids).size).toBe(many);
  }
  await expect(ask('plan', 'list', '--after', 'grant_none')).rejects.toMatchObject({ code: 'not_found' });
});

test('a reported sketch is removed by its id or any of its addresses', async () => {
  const owner = await fixture.newCaller();
  const show = async () => {
    const body = { title: 'A bank', directions: [{ name: 'One', html: '<h1>Your password</h1>' }] };
    return (await owner.call('POST', '/v1/sketches', { body })).body;
  };
  const status = async (url: string) => (await fixture.visit(new URL(url).hostname.split('.')[0] ?? '', '/')).status;
  const [first, second, third] = [await show(), await show(), await show()];
  const page = second.directions[0].url;
  expect([await status(first.url), await status(page)]).toEqual([200, 200]);
  expect(await ask('sketch', 'stop', '--sketch', first.id)).toMatchObject({
    sketch_id: first.id,
    account_id: owner.accountId,
    removed_at: expect.any(String),
  });
  expect((await ask('sketch', 'stop', '--sketch', page)).sketch_id).toBe(second.id);
  expect((await ask('sketch', 'stop', '--sketch', new URL(third.url).hostname)).sketch_id).toBe(third.id);
  for (const { url, directions } of [first, second, third])
    expect([await status(url), await status(directions[0].url)]).toEqual([404, 404]);
  for (const unknown of ['sketch_none', 'https://nothing.example/'])
    await expect(ask('sketch', 'stop', '--sketch', unknown)).rejects.toMatchObject({ code: 'not_found' });
});

test('a store with corrupt files exits with 1 and the next steps', {
  timeout: 60_000,
}, async ({ onTestFinished }) => {
  const data = await mkdtemp(join(tmpdir(), 'frontage-audit-'));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  const store = createDiskStore(join(data, 'store'));
  const [good, bad] = [await store.put(Readable.from('good')), await store.put(Readable.from('bad'))];
  await store.flush();
  const script = join(import.meta.dirname, '../../operator/admin.ts');
  const env = {
    ...process.env,
    DATABASE_URL: fixture.database.url,
    FRONTAGE_SECRET: 'a secret of the tests, long enough',
    FRONTAGE_DATA: data,
  };
  const audit = () =>
    promisify(execFile)(process.execPath, [script, 'store', 'audit'], { env }).then(
      ({ stdout, stderr }) => ({ exit: 0, ...JSON.parse(stdout), err: stderr }),
      ({ code, stdout, stderr }) => ({ exit: code, ...JSON.parse(stdout), err: stderr }),
    );
  expect(await audit()).toEqual({ exit: 0, blobs: 2, corrupt: 0, names: [], err: '' });
  expect(good.sha256).not.toBe(bad.sha256);
  await writeFile(join(data, 'store', 'sha256', bad.sha256.slice(0, 2), bad.sha256.slice(2)), 'else');
  expect(await audit()).toEqual({
    exit: 1,
    blobs: 2,
    corrupt: 1,
    names: [bad.sha256],
    err: expect.stringMatching(/^✗ 1 of 2 files in the store do not match their hashes.*backup/),
  });
});

test('the command has one name in package, image, help and docs', async () => {
  const root = join(import.meta.dirname, '../..');
  const read = (path: string) => readFile(join(root, path), 'utf8');
  const { bin, scripts } = JSON.parse(await read('package.json'));
  expect([bin['frontage-admin'], scripts['frontage-admin']]).toEqual([
    'operator/admin.ts',
    expect.stringContaining('operator/admin.ts'),
  ]);
  expect(await read('Dockerfile')).toContain('/usr/local/bin/frontage-admin');
  const docs = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'));
  const said = (await Promise.all(docs.map((name) => read(`docs/${name}`)))).join('\n');
  expect(
    Object.keys(commands).filter((name) => !said.includes(`\`${name}`) && !said.includes(`frontage-admin ${name}`)),
  ).toEqual([]);
  expect(said).not.toContain('node operator/admin.ts');
  const named = [...said.matchAll(/frontage-admin ([a-z]+ [a-z]+)/g)].map(([, words]) => words);
  expect(named.length).toBeGreaterThan(5);
  expect(Object.keys(commands)).toEqual(expect.arrayContaining(named));
});
