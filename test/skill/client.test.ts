/** The terminal client with a fake server: what it stores, what it passes to git, and what it requires. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answers, environment, home, refusal, run, sent, url, useFakeServer } from './fake-server.ts';

useFakeServer();

const login = ['login', '--email', 'owner@example.com'];
const kept = () => JSON.parse(readFileSync(join(home, 'frontage', 'config.json'), 'utf8')).servers[url].request?.id;

test('login --json still shows the code on the terminal', async () => {
  let asked = 0;
  answers['POST /v1/auth/requests/areq_x/redeem'] = () =>
    ++asked < 2 ? [200, { status: 'pending' }] : [200, { status: 'approved', access_token: 'fro_x' }];
  const { exit, out, err } = await run([...login, '--json']);
  expect([exit, JSON.parse(out), err]).toEqual([0, { id: 'acct_x' }, expect.stringContaining('The code is ABCD.')]);
});

test('login --no-wait prints the next step, and no code after approval', async () => {
  answers['POST /v1/auth/requests/areq_x/redeem'] = () => [200, { status: 'pending' }];
  const again = [...login, '--no-wait'];
  for (const said of [
    /^The code is ABCD[^→]* will receive an e-mail[^→]*\n→ .*again/,
    /^The code is still ABCD[^→]* already been sent[^→]*\n→ .*again/,
  ])
    expect(await run(again)).toEqual({ exit: 4, out: '', err: expect.stringMatching(said) });
  answers['POST /v1/auth/requests/areq_x/redeem'] = () => [200, { status: 'approved', access_token: 'fro_x' }];
  expect(await run(again)).toEqual({ exit: 0, out: expect.stringContaining('acct_x'), err: '' });
});

test('commands refuse unknown options before they do anything', async () => {
  const { exit, out } = await run(['publish', 'site_x', '--scoop', 'posts', '--json'], {
    env: { FRONTAGE_TOKEN: 'fro_x' },
  });
  const error = {
    code: 'usage',
    message: 'There is no option --scoop.',
    next_action: expect.stringContaining('[--scope'),
  };
  expect([exit, JSON.parse(out).error]).toEqual([2, expect.objectContaining(error)]);
});

test('a list omits values longer than a line, except next_action', async () => {
  const long = 'x'.repeat(101);
  const item = { id: 'site_x', embed: long, lines: 'a\nb', next_action: `Then ${long}` };
  answers['GET /v1/sites'] = () => [200, { items: [item], next_cursor: null }];
  const { out } = await run(['site', 'list'], { env: { FRONTAGE_TOKEN: 'fro_x' } });
  expect(out.split('\n')[0]?.split(/ +/)).toEqual(['id', 'next_action']);
});

test('a final error deletes the access request, and other errors keep it', async () => {
  const redeem = 'POST /v1/auth/requests/areq_x/redeem';
  for (const [status, code] of [
    [500, 'internal'],
    [402, 'plan_limit'],
  ] as const) {
    answers[redeem] = () => refusal(status, code);
    expect([(await run(login)).exit, kept()]).toEqual([1, 'areq_x']);
  }
  const final = ['access_denied', 'account_deleting', 'expired', 'already_redeemed', 'signin_unavailable', 'not_found'];
  for (const code of final) {
    answers[redeem] = () => refusal(409, code);
    expect([code, (await run(login)).exit > 0, kept()]).toEqual([code, true, undefined]);
  }
});

test('no global credential helper stores a password from the client', async () => {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'git'), `#!/bin/sh\nprintf '%s\\n' "$@" >> ${join(home, 'argv')}\n`, { mode: 0o755 });
  const git = { source: `${url}/git/site_x.git`, content: `${url}/git/site_x.content.git` };
  answers['GET /v1/sites/site_x'] = () => [200, { id: 'site_x', name: 'shop', git }];
  const env = { FRONTAGE_TOKEN: 'fro_x', PATH: `${bin}:${process.env.PATH}` };
  expect((await run(['clone', 'site_x'], { env })).exit).toBe(0);
  const argv = readFileSync(join(home, 'argv'), 'utf8').split('\n');
  const settings = argv.slice(0, argv.lastIndexOf('clone')).filter((_arg, index) => argv[index - 1] === '--config');

  const stored = join(home, 'stored');
  writeFileSync(join(home, '.gitconfig'), `[credential]\n\thelper = "!touch ${stored} #"\n`);
  const approve = (folder: string) =>
    execFileSync('git', ['-C', folder, 'credential', 'approve'], {
      env: environment(),
      input: `url=${git.source}\nusername=u\npassword=p\n`,
    });
  const clone = join(home, 'clone');
  execFileSync('git', ['init', '-q', clone], { env: environment() });
  for (const setting of settings) {
    const [, key = '', value = ''] = /^([^=]+)=(.*)$/.exec(setting) ?? [];
    execFileSync('git', ['-C', clone, 'config', '--add', key, value], { env: environment() });
  }
  approve(clone);
  expect([settings.length, existsSync(stored)]).toEqual([3, false]);
  execFileSync('git', ['init', '-q', join(home, 'other')], { env: environment() });
  approve(join(home, 'other'));
  expect(existsSync(stored)).toBe(true);
});

test('an archived site is cloned with a read-only password', async () => {
  const asked: unknown[] = [];
  answers['POST /v1/sites/site_x/git-credentials'] = ({ access }) => {
    asked.push(access);
    return access === 'write' ? refusal(409, 'site_archived') : [200, { username: 'u', password: 'p' }];
  };
  const input = `protocol=http\nhost=${new URL(url).host}\npath=git/site_x.git\n`;
  const { out } = await run(['git-credential', 'get'], { input, env: { FRONTAGE_TOKEN: 'fro_x' } });
  expect([out, asked]).toEqual(['username=u\npassword=p\n', ['write', 'read']]);
});

test('the client keeps the new secret of its own token', async () => {
  const post = { operationId: 'token.rotate', summary: 'Rotate', responses: {} };
  answers['GET /openapi.json'] = () => [200, { paths: { '/v1/tokens/{id}/rotate': { post } } }];
  let isCurrent = false;
  answers['POST /v1/tokens/tok_x/rotate'] = () => [200, { id: 'tok_x', current: isCurrent, access_token: 'fro_new' }];
  const file = join(home, 'frontage', 'config.json');
  const kept = () => JSON.parse(readFileSync(file, 'utf8')).servers[url].token;
  mkdirSync(join(home, 'frontage'));
  writeFileSync(file, JSON.stringify({ servers: { [url]: { token: 'fro_old' } } }));
  const rotate = (env = {}) => run(['token', 'rotate', 'tok_x'], { env });
  expect([(await rotate()).exit, kept()]).toEqual([0, 'fro_old']);
  isCurrent = true;
  expect([(await rotate({ FRONTAGE_TOKEN: 'fro_given' })).err, kept()]).toEqual([
    expect.stringContaining('Set FRONTAGE_TOKEN to the new token.'),
    'fro_old',
  ]);
  expect([(await rotate()).exit, kept()]).toEqual([0, 'fro_new']);
});

test('a refusal is shown with its request id, if that is one', async () => {
  const env = { FRONTAGE_TOKEN: 'fro_x' };
  answers['GET /v1/sites'] = () => refusal(404, 'not_found');
  for (const [requestId, shown] of [
    ['req_0123456789abcdef', '✗ No. (not_found)\n  request req_0123456789abcdef\n'],
    ['short', '✗ No. (not_found)\n'],
    ['a b c d e f g h', '✗ No. (not_found)\n'],
  ] as const) {
    sent.requestId = requestId;
    expect((await run(['site', 'list'], { env })).err).toBe(shown);
    const { out } = await run(['site', 'list', '--json'], { env });
    expect(JSON.parse(out)).toEqual(refusal(404, 'not_found')[1]);
  }
  sent.requestId = '';
});

test('a command works if its cache cannot be written', async () => {
  writeFileSync(join(home, 'file'), '');
  const env = { FRONTAGE_TOKEN: 'fro_x', XDG_CACHE_HOME: join(home, 'file') };
  expect(await run(['site', 'list'], { env })).toEqual({ exit: 0, out: '', err: 'The list is empty.\n' });
});

test('completion works on Node 20, which has no groupBy', async () => {
  const NODE_OPTIONS = '--import=data:text/javascript,delete%20Object.groupBy;delete%20Map.groupBy';
  const { exit, out } = await run(['completion', 'bash'], { env: { NODE_OPTIONS } });
  expect([exit, out]).toEqual([0, expect.stringContaining('site) list="list";;')]);
});

/** How these arguments reach an operation with the options `title`, `note`, `reply-to` and `scope`. */
async function bodyFrom(...args: string[]): Promise<unknown> {
  const text = { type: 'string' };
  const properties = { title: text, note: text, reply_to: text, scope: { type: 'object' } };
  const schema = { type: 'object', properties };
  const post = { operationId: 'site.create', requestBody: { content: { 'application/json': { schema } } } };
  answers['GET /openapi.json'] = () => [200, { paths: { '/v1/sites': { post } } }];
  answers['POST /v1/sites'] = (body) => [200, { body }];
  const { out } = await run(['site', 'create', ...args, '--json'], { env: { FRONTAGE_TOKEN: 'fro_x' } });
  return JSON.parse(out).body ?? JSON.parse(out).error.message;
}

test('option values may start with a dash, follow an equals sign or span lines', async () => {
  expect(await bodyFrom('--title', '-5', '--note=--x=1\n2')).toEqual({ title: '-5', note: '--x=1\n2' });
  expect(await bodyFrom('--title', '--note', 'b')).toBe('--title needs a value.');
  expect(await bodyFrom('--title', '--', '--note', 'b')).toEqual({ title: '--', note: 'b' });
  expect(await bodyFrom('--title', 'a', '--title', 'b')).toEqual({ title: 'b' });
  expect(await bodyFrom('--__proto__', 'x')).toBe('There is no option --__proto__.');
  expect(await bodyFrom('-ab')).toBe('The command takes no arguments.');
  expect(await bodyFrom('--=x')).toBe('--=x is not a valid option.');
  const { exit, out } = await run(['site', 'create', '-h']);
  expect([exit, out]).toEqual([0, expect.stringContaining('--title')]);
});

test('options may be named as fields, and a scope names sites', async () => {
  const shop = { items: [{ id: 'site_x', name: 'shop' }], next_cursor: null };
  answers['GET /v1/sites?limit=200'] = () => [200, shop];
  answers['GET /v1/sites?limit=200&status=deleting'] = () => [200, { items: [], next_cursor: null }];
  expect(await bodyFrom('--reply_to', 'a')).toEqual({ reply_to: 'a' });
  const scope = (sites: unknown) => bodyFrom('--scope', JSON.stringify({ sites, access: 'read' }));
  expect(await scope(['shop', 'site_y'])).toEqual({ scope: { sites: ['site_x', 'site_y'], access: 'read' } });
  expect(await scope('all')).toEqual({ scope: { sites: 'all', access: 'read' } });
  expect(await scope(['mart'])).toBe('You have no site called mart.');
});

test('free times are read by a site’s name, id or public id', async () => {
  const days = { get: { operationId: 'offer.days', summary: 'List days' } };
  answers['GET /openapi.json'] = () => [200, { paths: { '/b/{public_id}/days': days } }];
  const site = { id: 'site_x', name: 'shop', public_id: '0123456789abcdef' };
  answers['GET /v1/sites?limit=200'] = () => [200, { items: [site], next_cursor: null }];
  answers['GET /b/0123456789abcdef/days'] = () => [200, { days: [] }];
  for (const named of Object.values(site))
    expect((await run(['offer', 'days', named], { env: { FRONTAGE_TOKEN: 'fro_x' } })).exit).toBe(0);
});

test('a repeated option is a list where the query takes one', async () => {
  const text = { type: 'string' };
  const path = { name: 'path', in: 'query', schema: { anyOf: [text, { type: 'array', items: text }] } };
  const parameters = [path, { name: 'ref', in: 'query', schema: text }];
  const list = { get: { operationId: 'site.list', summary: 'List', parameters, responses: {} } };
  answers['GET /openapi.json'] = () => [200, { paths: { '/v1/sites': list }, components: { schemas: {} } }];
  answers['GET /v1/sites?path=a&path=b&ref=y'] = () => [200, { items: [], next_cursor: null }];
  const env = { FRONTAGE_TOKEN: 'fro_x' };
  const read = await run(['site', 'list', '--path', 'a', '--path', 'b', '--ref', 'x', '--ref', 'y'], { env });
  expect([read.exit, read.err]).toEqual([0, 'The list is empty.\n']);
  expect((await run(['site', 'list', '--help'], { env })).out).not.toContain('JSON: string');
});

test('check takes a folder, and reads or crops a check by its id', async () => {
  const read = { get: { operationId: 'check.read', summary: 'Read what a check found' } };
  const crop = { get: { operationId: 'check.crop', summary: 'See a finding' } };
  const paths = { '/v1/checks/{id}': read, '/v1/checks/{id}/crops/{number}': crop };
  answers['GET /openapi.json'] = () => [200, { paths }];
  answers['GET /v1/checks/check_x'] = () => [200, { id: 'check_x', status: 'done' }];
  answers['GET /v1/checks/check_x/crops/1'] = () => [200, { id: 'a crop' }];
  answers['GET /v1/packages?name=moment'] = () => [200, { missing: [{ name: 'moment', nearest: 'dayjs' }] }];
  mkdirSync(join(home, 'site'));
  writeFileSync(join(home, 'site', 'a.js'), "import 'moment';");
  const ran = async (...args: string[]) => {
    const { exit, out } = await run(['check', ...args, '--json'], { env: { FRONTAGE_TOKEN: 'fro_x' } });
    return [exit, JSON.parse(out)];
  };
  expect(await ran('read', 'check_x')).toEqual([0, { id: 'check_x', status: 'done' }]);
  expect(await ran('crop', 'check_x', '1')).toEqual([0, { id: 'a crop' }]);
  expect(await ran('site')).toEqual([1, { missing: [{ name: 'moment', nearest: 'dayjs', files: ['a.js'] }] }]);
  expect((await run(['check', 'read'])).err).toContain('The command takes <check-id>.');
  expect((await run(['check'])).err).toContain('Specify the folder of the source.\n→ frontage check --help');
  const { out: help } = await run(['check', '--help']);
  for (const use of ['check <folder>', 'check read <check-id>', 'check crop <check-id> <number>'])
    expect(help).toContain(`frontage ${use}\n`);
});

test('the client of a checkout runs from its modules', async () => {
  const checkout = join(import.meta.dirname, '../../skill/bin/frontage.mjs');
  const env = { ...environment(), FRONTAGE_TOKEN: 'fro_x' };
  expect(execFileSync(process.execPath, [checkout, 'logout', '--json'], { env, encoding: 'utf8' })).toContain(url);
});
