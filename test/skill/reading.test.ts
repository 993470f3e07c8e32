/** What the terminal client shows of lists, files, versions and builds, from a fake server. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answers, client, environment, home, run, url, useFakeServer } from './fake-server.ts';

useFakeServer();

const env = { FRONTAGE_TOKEN: 'fro_x' };

/** The cells of the list that the server answers with these items. */
async function tableOf(...items: object[]): Promise<string[][]> {
  answers['GET /v1/sites'] = () => [200, { items, next_cursor: null }];
  const { out } = await run(['site', 'list'], { env });
  return out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
}

test('a list of comments shows author and text of the newest message', async () => {
  const messages = [
    { author: 'Ben', body: 'First' },
    { author: 'Ada', body: `Make it\nblue ${'x'.repeat(80)}` },
  ];
  const thread = { id: 'thread_x', site_id: 'site_x', status: 'open', page: '/', messages, resolved_at: null };
  const [head, row] = await tableOf(thread);
  expect(head).toEqual(['id', 'status', 'page', 'author', 'text']);
  expect(row?.slice(0, 4)).toEqual(['thread_x', 'open', '/', 'Ada']);
  expect(row?.[4]).toMatch(/^Make it blue x+…$/);
});

test('a list of versions shows its dates and who made them', async () => {
  const version = {
    id: 'dep_x',
    site_id: 'site_x',
    number: 3,
    kind: 'site',
    status: 'live',
    source_commit: null,
    created_by: 'acct_x',
    created_via: { kind: 'token', name: 'laptop' },
    created_at: '2026-11-01T10:00:00Z',
    live_at: '2026-11-01T10:01:00Z',
  };
  expect(await tableOf(version)).toEqual([
    ['id', 'number', 'status', 'kind', 'live_at', 'created_at', 'created_via', 'created_by'],
    ['dep_x', '3', 'live', 'site', '2026-11-01T10:01:00Z', '2026-11-01T10:00:00Z', 'laptop', 'acct_x'],
  ]);
});

test('a list of bookings shows the visitor’s name', async () => {
  const booking = { id: 'bkg_x', status: 'confirmed', visitor: { name: 'Ada' }, start: '2026-11-01T10:00:00Z' };
  const [, row] = await tableOf({ ...booking, site_id: 'site_x' }, { ...booking, visitor: null, site_id: 'site_x' });
  expect(row).toEqual(['bkg_x', '2026-11-01T10:00:00Z', 'confirmed', 'Ada']);
});

test('a list of payments shows what was taken and refunded', async () => {
  const payment = { id: 'pay_x', amount: 2500, currency: 'EUR', reference: 'R', booking_id: 'book_x' };
  const paid = { status: 'paid', pay_url: 'http://x/pay/pay_x', payout_account_id: 'pout_x', paid_at: '2026-11-02' };
  const [head, row] = await tableOf({ ...payment, ...paid, refunded_amount: 1000, created_at: '2026-11-01' });
  expect(head?.slice(0, 7)).toEqual(['id', 'status', 'amount', 'refunded_amount', 'currency', 'paid_at', 'created_at']);
  expect(row?.slice(0, 6)).toEqual(['pay_x', 'paid', '2500', '1000', 'EUR', '2026-11-02']);
});

test('a list shows the site of its items only where they differ', async () => {
  const heads = async (...ids: string[]) => (await tableOf(...ids.map((site_id) => ({ id: 'x', site_id }))))[0];
  expect([await heads('site_x', 'site_x'), await heads('site_x', 'site_y')]).toEqual([['id'], ['id', 'site_id']]);
});

test('a file of the source is printed as it is', async () => {
  const text = '# Open\n\n- Hours?\n\ttab\n';
  answers['GET /v1/sites'] = () => [200, { kind: 'file', path: 'docs/open.md', text }];
  expect(await run(['site', 'list'], { env })).toEqual({ exit: 0, out: text, err: '' });
  const picture = { kind: 'file', path: 'a.bin', base64: Buffer.from('bytes').toString('base64') };
  answers['GET /v1/sites'] = () => [200, { kind: 'files', items: [{ kind: 'file', path: 'a.md', text }, picture] }];
  const { out, err } = await run(['site', 'list'], { env });
  expect([out, err]).toEqual([`${text}bytes`, '==> a.md\n==> a.bin\n']);
});

test('a list shows descriptions whole, in the last column', async () => {
  const description = `One page. ${'For those who bring their own design. '.repeat(4)}`.trim();
  const template = { name: 'blank', description, preview_url: 'http://x.localhost', title: 'Blank' };
  expect(await tableOf(template)).toEqual([
    ['name', 'title', 'preview_url', 'description'],
    ['blank', 'Blank', 'http://x.localhost', description],
  ]);
});

test('the end of a file’s name chooses the format of a picture', async () => {
  const format = { name: 'format', in: 'query', schema: { enum: ['webp', 'png'] } };
  const responses = { 200: { content: { 'image/webp': {}, 'application/json': {} } } };
  const operation = (operationId: string, parameters: object[]) => ({
    get: { operationId, summary: 'See', parameters, responses },
  });
  const paths = {
    '/v1/sketches/{id}/screenshot': operation('sketch.screenshot', [format]),
    '/v1/comparisons/{id}/pictures/{number}': operation('comparison.picture', []),
  };
  answers['GET /openapi.json'] = () => [200, { paths }];
  for (const path of ['/v1/sketches/s/screenshot?', '/v1/deployments/dep_x/screenshot?path=%2F&'])
    for (const one of ['png', 'webp']) answers[`GET ${path}format=${one}`] = () => [200, one, `image/${one}`];
  answers['GET /v1/comparisons/cmp_x/pictures/1'] = () => [200, 'both', 'image/webp'];
  const saved = async (...args: string[]) => {
    const { exit, out, err } = await run(args, { env });
    return exit === 0 ? [out.trim(), readFileSync(join(home, out.trim()), 'utf8')] : [exit, err];
  };
  expect(await saved('screenshot', 'dep_x', '--to', 'a.PNG')).toEqual(['a.PNG', 'png']);
  expect(await saved('sketch', 'screenshot', 's', '--to', 'b.png')).toEqual(['b.png', 'png']);
  expect(await saved('sketch', 'screenshot', 's', '--format', 'webp', '--to', 'c')).toEqual(['c', 'webp']);
  expect(await saved('comparison', 'picture', 'cmp_x', '1', '--to', 'd.webp')).toEqual(['d.webp', 'both']);
  const refused = '✗ The picture is in the format webp. Choose a name that ends with .webp.\n→ frontage --help\n';
  expect(await saved('comparison', 'picture', 'cmp_x', '1', '--to', 'e.png')).toEqual([2, refused]);
  expect(readdirSync(home).filter((name) => /^\w(\.|$)/.test(name))).toEqual(['a.PNG', 'b.png', 'c', 'd.webp']);
  const help = await Promise.all([
    run(['comparison', 'picture', '--help']).then(({ out }) => out),
    run(['screenshot', '--help']).then(({ out }) => out),
  ]);
  expect(help).toEqual([expect.stringContaining('--to '), expect.stringContaining('The default is WebP.')]);
});

test('a missing required option is named before anything is sent', async () => {
  const parameters = ['service', 'date'].map((name) => ({ name, in: 'query', required: true, schema: {} }));
  const get = { operationId: 'offer.slots', summary: 'List times', parameters };
  answers['GET /openapi.json'] = () => [200, { paths: { '/b/{public_id}/slots': { get } } }];
  answers['GET /b/x/slots?service=a&date=2026-12-01'] = () => [200, { slots: [] }];
  const slots = async (...more: string[]) => await run(['offer', 'slots', 'x', '--service', 'a', ...more], { env });
  const noSites = { items: [], next_cursor: null };
  const missing = '✗ The command also needs --date.\n→ frontage offer slots --help\n';
  expect(await slots()).toEqual({ exit: 2, out: '', err: missing });
  answers['GET /v1/sites?limit=200'] = answers['GET /v1/sites?limit=200&status=deleting'] = () => [200, noSites];
  expect((await slots('--date', '2026-12-01')).exit).toBe(0);
  const { out } = await run(['offer', '--help']);
  expect(out).toContain('frontage offer slots <public-id> --service … --date …\n');
});

test('restore makes the previous or the given version live', async () => {
  const site = { id: 'site_x', name: 'shop', address: 'http://shop.localhost', live_deployment_id: 'dep_3' };
  const version = (number: number, live_at: string | null) => ({
    id: `dep_${number}`,
    number,
    live_at,
    restorable: live_at !== null,
  });
  const all = [version(4, null), version(3, '2026-03-01'), version(2, '2026-01-01'), version(1, '2026-02-01')];
  answers['GET /v1/sites/site_x'] = () => [200, site];
  answers['GET /v1/sites/site_x/deployments?limit=200'] = () => [200, { items: all, next_cursor: null }];
  for (const { number, id } of all)
    answers[`POST /v1/deployments/${id}/restore`] = () => [200, { id, number, status: 'live' }];
  const restore = async (...words: string[]) => {
    const { exit, err } = await run(['restore', 'site_x', ...words], { env });
    return [exit, err];
  };
  expect(await restore()).toEqual([0, '✓ Version 1 is live: http://shop.localhost\n']);
  expect(await restore('2')).toEqual([0, '✓ Version 2 is live: http://shop.localhost\n']);
  const next = '→ frontage deployment list';
  expect(await restore('9')).toEqual([1, `✗ The site has no version 9.\n${next} shop\n`]);
  expect(await restore('x')).toEqual([2, `✗ Specify the number of a version.\n${next} site_x\n`]);
  all.splice(0, 4, version(3, '2026-03-01'));
  expect(await restore()).toEqual([1, `✗ The site has no earlier version.\n${next} shop\n`]);
});

test('a site under deletion is named like any other', async () => {
  const post = { operationId: 'site.restore', summary: 'Restore' };
  answers['GET /openapi.json'] = () => [200, { paths: { '/v1/sites/{id}/restore-site': { post } } }];
  answers['GET /v1/sites?limit=200'] = () => [200, { items: [], next_cursor: null }];
  const deleting = { items: [{ id: 'site_x', name: 'shop', status: 'deleting' }], next_cursor: null };
  answers['GET /v1/sites?limit=200&status=deleting'] = () => [200, deleting];
  answers['POST /v1/sites/site_x/restore-site'] = () => [200, { id: 'site_x', status: 'archived' }];
  const { exit, out } = await run(['site', 'restore', 'shop', '--json'], { env });
  expect([exit, JSON.parse(out).status]).toEqual([0, 'archived']);
  expect((await run(['site', 'restore', 'mart'], { env })).err).toContain('You have no site called mart.');
});

test('a comment is resolved and reopened by its own commands', async () => {
  const note = { type: 'string' };
  const schema = { type: 'object', properties: { page: note, note, action: note, thread_id: note } };
  const post = {
    operationId: 'comment.write',
    summary: 'Write',
    requestBody: { content: { 'application/json': { schema } } },
  };
  answers['GET /openapi.json'] = () => [200, { paths: { '/v1/sites/{id}/comments': { post } } }];
  answers['POST /v1/sites/site_x/comments'] = (body) => [200, { body }];
  const written = async (...args: string[]) => JSON.parse((await run([...args, '--json'], { env })).out);
  expect(await written('comment', 'resolve', 'site_x', 'thread_x', '--note', 'Blue now')).toEqual({
    body: { action: 'resolve', thread_id: 'thread_x', note: 'Blue now' },
  });
  expect((await written('comment', 'reopen', 'site_x', 'thread_x')).body.action).toBe('reopen');
  const { message } = (await written('comment', 'resolve', 'site_x')).error;
  expect(message).toBe('The command takes <site> <thread-id>.');
});

test('the help of a structure shows nested fields, values and notes', async () => {
  const amount = { type: 'integer', description: 'In cents.' };
  const per = { type: 'string', enum: ['seat', 'booking'] };
  const price = { anyOf: [{ type: 'object', properties: { amount, per }, required: ['amount'] }, { type: 'null' }] };
  const services = { type: 'array', items: { $ref: '#/components/schemas/Service' } };
  const schema = { type: 'object', properties: { services }, required: ['services'] };
  const post = {
    operationId: 'bookable.declare',
    summary: 'Set',
    requestBody: { content: { 'application/json': { schema } } },
  };
  const schemas = { Service: { type: 'object', properties: { price } } };
  answers['GET /openapi.json'] = () => [200, { paths: { '/v1/bookable': { post } }, components: { schemas } }];
  const { out } = await run(['bookable', 'declare', '--help']);
  expect(out).toContain('JSON: [{ price?: { amount: integer, per?: seat|booking } | null }, …]');
  expect(out).toMatch(/\n +price\.amount: In cents\.\n/);
});

test('a quiet publish shows the log only if the build fails', async () => {
  const error = { code: 'build_failed', message: 'No.', retryable: false, detail: 'line 1\nline 2' };
  answers['GET /v1/sites/site_x'] = () => [200, { id: 'site_x', address: 'http://shop.localhost' }];
  answers['POST /v1/sites/site_x/publish'] = () => [200, { id: 'dep_x', number: 1, status: 'failed', error }];
  const failed = async (...more: string[]) => (await run(['publish', 'site_x', ...more], { env })).err;
  expect(await failed('--quiet')).toBe('✗ line 1\nline 2\nNo. (build_failed)\n');
  expect(await failed()).toBe('✗ No. (build_failed)\n');
});

test('without a sign-in, git shows why and does not prompt', async () => {
  const input = `protocol=http\nhost=${new URL(url).host}\npath=git/site_x.git\n`;
  const { exit, out, err } = await run(['git-credential', 'get'], { input });
  expect([exit, out, err]).toEqual([4, 'quit=1\n', expect.stringContaining(`You are not signed in to ${url}.\n→ `)]);
  const helper = `credential.helper=!'${process.execPath}' '${client}' git-credential`;
  const said = await new Promise<string>((resolve) => {
    const args = ['-c', 'credential.useHttpPath=true', '-c', helper, 'credential', 'fill'];
    execFile('git', args, { env: environment() }, (_error, _out, said) => resolve(said)).stdin?.end(input);
  });
  expect(said).toContain(`You are not signed in to ${url}.`);
  expect(said).not.toContain('could not read Username');
});
