import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { OutboxEntry } from '#db/outbox-entry.ts';
import type { Option } from '#operator/commands/command.ts';
import { commands, readCommand } from '#operator/commands/commands.ts';
import { createSite } from '#test/api/fixture.ts';
import { createFixture } from '#test/output/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const script = join(import.meta.dirname, '../../operator/admin.ts');
const page = '<!doctype html><title>T</title><h1>Hello</h1>';

type Ran = { exit: number; out: string; err: string };
async function run(...args: string[]): Promise<Ran> {
  const env = {
    ...process.env,
    DATABASE_URL: fixture.database.url,
    FRONTAGE_SECRET: 'a secret of the tests, long enough',
  };
  return await promisify(execFile)(process.execPath, [script, ...args], { env }).then(
    ({ stdout, stderr }) => ({ exit: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ exit: code, out: stdout, err: stderr }),
  );
}

/** What the command prints, without a process of its own. */
async function print(...args: string[]): Promise<string> {
  const { command, given } = readCommand(args);
  const em = fixture.deps.em();
  const { config, clock } = fixture;
  return JSON.stringify(await command?.run({ em, config, clock }, given as Record<Option, string>));
}
const ask = async (...args: string[]) => JSON.parse(await print(...args));

test('the operator command’s exit code and output report the result', { timeout: 120_000 }, async () => {
  const [taught, wrong, unsaid, refused] = await Promise.all([
    run('site', '--help'),
    run('site', 'close'),
    run('account', 'show'),
    run('site', 'block', '--site', 'site_x', '--reason', 'r'),
  ]);
  const use = "site block --site site_… --reason 'The reason, in one sentence'\n    Blocks";
  expect(taught).toEqual({ exit: 0, out: expect.stringContaining(use), err: '' });
  expect(wrong).toEqual({ exit: 2, out: '', err: expect.stringContaining('There is no command site close') });
  expect(unsaid).toEqual({ exit: 2, out: '', err: expect.stringContaining('either --account or --email') });
  expect(refused).toEqual({ exit: 1, out: '', err: '✗ not_found: There is no site with this id.\n' });
});

test('the help explains every operator command, and misuse prints the usage', () => {
  const { help = '' } = readCommand(['--help']);
  for (const [name, { about }] of Object.entries(commands)) {
    expect(help).toContain(`frontage-admin ${name}`);
    expect(help).toContain(`    ${about}`);
  }
  expect(readCommand(['outbox', '-h']).help?.match(/^frontage-admin/gm)).toHaveLength(2);
  for (const [args, words] of [
    [[], 'account create'],
    [['constructor'], 'There is no command constructor'],
    [
      ['site', 'block', '--site', 'site_x'],
      'A required option is missing: frontage-admin site block --site site_… --reason',
    ],
    [['site', 'unblock', '--site', 'site_x', '--plan', 'studio'], 'has no option --plan'],
    [['site', 'unblock', '--sight', 'x'], '--sight'],
    [['ledger', 'list', '--settled', 'yes'], 'There is no command ledger list yes'],
  ] as const)
    expect(() => readCommand([...args])).toThrow(words);
});

test('a token from the operator has the given name', async () => {
  const make = (...more: string[]) => ask('account', 'create', '--email', 'new@example.com', '--name', 'New', ...more);
  await make();
  await make('--token-name', ' Our agent ');
  await expect(make('--token-name', ' ')).rejects.toThrow('1 to 100 characters');
  const { tokens } = await ask('account', 'show', '--email', 'new@example.com');
  expect(tokens.map(({ name }: { name: string }) => name).toSorted()).toEqual(['Our agent', 'operator']);
});

test('accounts are found by words and shown with usage, without secrets', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const { email } = (await owner.call('GET', '/v1/account')).body;
  const found = await ask('account', 'list', '--match', email.toUpperCase());
  expect(found.items).toMatchObject([{ id: owner.accountId, email, plan: expect.any(String) }]);
  expect((await ask('account', 'list', '--match', '%')).items).toEqual([]);
  const shown = await print('account', 'show', '--email', email);
  expect(JSON.parse(shown)).toMatchObject({
    id: owner.accountId,
    sites: [{ id: site.id, status: 'active', blocked: null }],
    tokens: [{ name: 'first' }],
  });
  expect(shown).not.toContain(owner.token.slice(-8));
  expect(await ask('account', 'show', '--account', owner.accountId)).toEqual(JSON.parse(shown));
  await expect(ask('account', 'show')).rejects.toThrow('either --account or --email');
  expect((await ask('plan', 'list')).items).toEqual([]);
});

test('a blocked site returns 451 everywhere, tells its owner why, and returns unchanged', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  await fixture.publish(site.id, owner.accountId, { 'index.html': page });
  const status = async () => (await fixture.visit(site.name, '/')).status;
  await expect.poll(status).toBe(200);
  const waiting = owner.call('GET', '/v1/inbox?wait=20');
  const blocked = await ask(
    'site',
    'block',
    '--site',
    site.id,
    '--reason',
    'It asks visitors for passwords of a bank.',
  );
  expect(blocked).toMatchObject({ site_id: site.id, name: site.name });
  await expect.poll(status).toBe(451);
  const visit = await fixture.visit(site.name, '/');
  expect(visit.text).toContain('blocked');
  expect(visit.text).not.toContain('bank');
  const told = { reason: 'It asks visitors for passwords of a bank.', at: blocked.blocked_at };
  expect((await owner.call('GET', `/v1/sites/${site.id}`)).body).toMatchObject({ status: 'active', blocked: told });
  expect((await waiting).body.items).toMatchObject([
    { kind: 'blocked_site', id: site.id, site: { id: site.id }, who: null, message: told.reason, at: told.at },
  ]);
  // Another reason does not make it a newer block; a publish does not undo it.
  const again = await ask('site', 'block', '--site', site.id, '--reason', 'It still does.');
  expect(again.blocked_at).toBe(blocked.blocked_at);
  await fixture.publish(site.id, owner.accountId, { 'index.html': `${page}2` });
  const another = await fixture.openEdge();
  expect((await another.visit(site.name, '/')).status).toBe(451);
  await another.close();
  expect(await ask('site', 'unblock', '--site', site.id)).toMatchObject({ blocked_at: null });
  await expect.poll(async () => (await fixture.visit(site.name, '/')).text).toBe(`${page}2`);
  expect((await owner.call('GET', '/v1/inbox')).body.items).toEqual([]);
});

test('an account is blocked and unblocked by address or id', async () => {
  const owner = await fixture.newCaller();
  const { email } = (await owner.call('GET', '/v1/account')).body;
  const blocked = await ask('account', 'block', '--email', email.toUpperCase(), '--reason', 'It sends spam.');
  expect(blocked).toEqual({ account_id: owner.accountId, email, blocked_at: expect.any(String) });
  expect((await ask('account', 'show', '--email', email)).blocked).toBe('It sends spam.');
  const refused = await owner.call('GET', '/v1/account');
  expect([refused.status, refused.body.error.message.includes('It sends spam.')]).toEqual([403, true]);
  expect(await ask('account', 'unblock', '--account', owner.accountId)).toMatchObject({ blocked_at: null });
  expect((await owner.call('GET', '/v1/account')).status).toBe(200);
  await expect(ask('account', 'block', '--reason', 'x')).rejects.toThrow('either --account or --email');
  await expect(ask('account', 'block', '--email', 'nobody@example.org', '--reason', 'x')).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('unsent outbox entries are listed with their error, and sent ones can be replayed', async () => {
  const em = fixture.deps.em();
  const [now, workflowId] = [fixture.clock.now(), `gone:${Date.now()}`];
  const rest = { kind: 'signal', workflowId, message: { signal: 'check', input: 'not for operators' } } as const;
  em.create(OutboxEntry, { id: 'out_test_waits', ...rest, createdAt: now, attempts: 3, lastError: 'no engine' });
  em.create(OutboxEntry, { id: 'out_test_sent', ...rest, createdAt: now, sentAt: now, attempts: 1 });
  await em.flush();
  const listed = await print('outbox', 'list');
  expect(JSON.parse(listed).items).toContainEqual(
    expect.objectContaining({ id: 'out_test_waits', what: 'check', attempts: 3, last_error: 'no engine' }),
  );
  expect(listed).not.toContain('not for operators');
  expect(await ask('outbox', 'replay', '--entry', 'out_test_sent')).toMatchObject({ sent_at: null, attempts: 0 });
  await expect(ask('outbox', 'replay', '--entry', 'out_none')).rejects.toMatchObject({ code: 'not_found' });
});
