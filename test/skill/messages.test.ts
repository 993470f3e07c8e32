/** What the terminal client prints for people. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answers, home, refusal, run, url, useFakeServer } from './fake-server.ts';

useFakeServer();

test('a list of submissions shows the visitors’ answers', async () => {
  const item = { id: 'sub_x', form_id: 'form_x', fields: { name: 'Ada', topics: ['a', 'b'] }, page: null };
  answers['GET /v1/sites'] = () => [200, { items: [item], next_cursor: null }];
  const { out } = await run(['site', 'list'], { env: { FRONTAGE_TOKEN: 'fro_x' } });
  const [head, row] = out.split('\n');
  expect(head?.split(/ +/)).toEqual(['id', 'fields']);
  expect(row).toBe('sub_x  name Ada  topics ["a","b"]');
});

test('a payment shows the part of it that was refunded', async () => {
  const env = { FRONTAGE_TOKEN: 'fro_x' };
  const payment = { id: 'pay_x', amount: 4500, currency: 'EUR', refunded_amount: 2000, refunded_at: null };
  const whole = { ...payment, id: 'pay_y', refunded_amount: 4500, refunded_at: '2030-01-01T10:00:00Z' };
  answers['GET /v1/sites'] = () => [200, { items: [payment, whole], next_cursor: null }];
  const [, part, all] = (await run(['site', 'list'], { env })).out.split('\n');
  expect([part, all]).toEqual([
    expect.stringContaining('in part: 2000 of 4500'),
    expect.stringContaining('2030-01-01T10:00:00Z'),
  ]);
  answers['GET /v1/sites'] = () => [200, { id: 'book_x', payment }];
  expect((await run(['site', 'list'], { env })).out).toMatch(/refunded_at +in part: 2000 of 4500/);
});

test('a value of several lines keeps its lines, and code is not indented', async () => {
  const code = '<form>\n  <textarea>\n</textarea>\n</form>\n';
  answers['GET /v1/sites'] = () => [200, { id: 'form_x', text: 'Hello\n  you\n', embed: code }];
  const { out } = await run(['site', 'list'], { env: { FRONTAGE_TOKEN: 'fro_x' } });
  expect(out).toMatch(/^id +form_x\ntext\n {2}Hello\n {4}you\nembed\n<form>\n/);
  expect(out.endsWith(`\nembed\n${code}`)).toBe(true);
});

test('without a token, a refused call says that you are not signed in', async () => {
  answers['GET /v1/sites'] = () => refusal(401, 'unauthorized');
  const next = '→ frontage login --email <your e-mail address>';
  expect(await run(['site', 'list'])).toEqual({
    exit: 4,
    out: '',
    err: `✗ You are not signed in to ${url}.\n${next}\n`,
  });
  const { err } = await run(['site', 'list'], { env: { FRONTAGE_TOKEN: 'fro_x' } });
  expect(err).toBe(`✗ No. (unauthorized)\n${next}\n`);
});

test('the skill is listed and read without a sign-in', async () => {
  const paths = {
    '/v1/skill': { get: { operationId: 'skill.list', summary: 'List' } },
    '/v1/skill/{path}': { get: { operationId: 'skill.read', summary: 'Read' } },
  };
  answers['GET /openapi.json'] = () => [200, { paths }];
  answers['GET /skill/'] = () => [200, { version: 'v' }];
  answers['GET /skill/stages/ship.md'] = () => [200, '# Ship', 'text/markdown'];
  expect(await run(['skill', 'list', '--json'])).toEqual({ exit: 0, out: '{\n  "version": "v"\n}\n', err: '' });
  expect((await run(['skill', 'read', 'stages/ship.md'])).out).toBe('# Ship');
});

test('the help of a free body says how to send it', async () => {
  const content = { 'application/json': { schema: {} }, 'multipart/form-data': { schema: {} } };
  const post = { operationId: 'form.send', summary: 'Submit a form', requestBody: { content } };
  answers['GET /openapi.json'] = () => [200, { paths: { '/f/{form_id}': { post } } }];
  answers['POST /f/form_x'] = (body) => [200, { body }];
  const { out: help } = await run(['form', 'send', '--help']);
  expect(help).toContain('frontage form send <form-id> --body …\n');
  expect(help).toMatch(/\n {2}--body +required\. The request, as a JSON object\.\n/);
  const { out } = await run(['form', 'send', 'form_x', '--body', '{"name":"Ada"}', '--json']);
  expect(JSON.parse(out)).toEqual({ body: { name: 'Ada' } });
});

test('a site stands for its live version where nothing changes it', async () => {
  const post = (operationId: string) => ({ post: { operationId, summary: 'A call' } });
  const under = '/v1/deployments/{id}';
  const paths = { [`${under}/checks`]: post('deployment.check'), [`${under}/restore`]: post('deployment.restore') };
  answers['GET /openapi.json'] = () => [200, { paths }];
  answers['GET /v1/sites?limit=200'] = () => [
    200,
    { items: [{ id: 'site_x', name: 'shop', live_deployment_id: 'dep_x' }], next_cursor: null },
  ];
  answers['POST /v1/deployments/dep_x/checks'] = () => [200, { id: 'check_x', status: 'done' }];
  answers['POST /v1/deployments/shop/restore'] = () => refusal(404, 'not_found');
  const env = { FRONTAGE_TOKEN: 'fro_x' };
  for (const named of ['shop', 'dep_x'])
    expect((await run(['deployment', 'check', named], { env })).out).toContain('check_x');
  expect((await run(['deployment', 'restore', 'shop'], { env })).exit).toBe(1);
  const { out: help } = await run(['deployment', '--help']);
  expect(help).toContain('frontage deployment check <site|deployment-id>\n');
  expect(help).toContain('frontage deployment restore <deployment-id>\n');
  const { err } = await run(['check', 'shop']);
  expect(err).toContain('→ To check the pages of a site: frontage deployment check shop\n');
});

test('a call beyond the token’s scope waits for a person and prints the link', async () => {
  answers['GET /v1/sites'] = () => {
    const [status, { error }] = refusal(403, 'out_of_scope') as [number, { error: object }];
    return [status, { error: { ...error, next_action: 'Ask the owner to open http://x/account/widen?ask=y.' } }];
  };
  const { exit, err } = await run(['site', 'list'], { env: { FRONTAGE_TOKEN: 'fro_x' } });
  expect([exit, err]).toEqual([4, expect.stringContaining('http://x/account/widen?ask=y')]);
});

test('a flag that is not JSON names the expected type', async () => {
  const schema = { type: 'object', properties: { fields: { type: 'array' } } };
  const create = {
    post: {
      operationId: 'form.create',
      summary: 'Create',
      requestBody: { content: { 'application/json': { schema } } },
    },
  };
  answers['GET /openapi.json'] = () => [200, { paths: { '/v1/forms': create }, components: { schemas: {} } }];
  for (const [flag, expected] of [
    ['--fields', 'an array, such as […]'],
    ['--body', 'an object, such as {…}'],
  ] as const) {
    const { exit, err } = await run(['form', 'create', flag, 'name']);
    expect([exit, err]).toEqual([2, expect.stringContaining(`${flag} is not valid JSON: it must be ${expected}.`)]);
  }
});

test('a restored deployment is announced like a published one', async () => {
  const restore = { post: { operationId: 'deployment.restore', summary: 'Restore' } };
  answers['GET /openapi.json'] = () => [200, { paths: { '/v1/deployments/{id}/restore': restore } }];
  answers['POST /v1/deployments/dep_x/restore'] = () => [
    200,
    { id: 'dep_x', site_id: 'site_x', number: 1, status: 'live' },
  ];
  answers['GET /v1/sites/site_x'] = () => [200, { id: 'site_x', address: 'http://shop.localhost' }];
  const { exit, err } = await run(['deployment', 'restore', 'dep_x'], { env: { FRONTAGE_TOKEN: 'fro_x' } });
  expect([exit, err]).toEqual([0, '✓ Version 1 is live: http://shop.localhost\n']);
});

test('finished results with a next step exit with 0, failed ones with 1', async () => {
  const read = { get: { operationId: 'thing.read', summary: 'Read' } };
  answers['GET /openapi.json'] = () => [200, { paths: { '/v1/things/{id}': read } }];
  const results: [body: object, exit: number][] = [
    [{ slot: 1, status: 'draft', failed_deployment_id: null }, 0],
    [{ id: 'cmp_x', status: 'done' }, 0],
    [{ id: 'pay_x', status: 'open' }, 0],
    [{ id: 'cmp_x', status: 'running' }, 3],
    [{ id: 'bkg_x', status: 'held' }, 3],
    [{ id: 'pay_x', status: 'refunding' }, 3],
    [{ id: 'pay_x', status: 'paid', refunded_amount: 0 }, 3],
    [{ id: 'dom_x', status: 'Moved', waiting_on: 'platform' }, 3],
    [{ id: 'cmp_x', status: 'failed' }, 1],
    [{ slot: 1, status: 'draft', failed_deployment_id: 'dep_x' }, 1],
  ];
  const ended = results.map(async ([body], at) => {
    answers[`GET /v1/things/${at}`] = () => [200, { ...body, next_action: 'See it.' }];
    const { exit, err } = await run(['thing', 'read', String(at)], { env: { FRONTAGE_TOKEN: 'fro_x' } });
    return [body, exit, err];
  });
  expect(await Promise.all(ended)).toEqual(results.map(([body, exit]) => [body, exit, '→ See it.\n']));
});

test('JSON is saved where it is the result, not where it says to wait', async () => {
  const env = { FRONTAGE_TOKEN: 'fro_x' };
  const operation = (operationId: string, formats: string[], type: string) => ({
    get: {
      ...{ operationId, summary: 'See', parameters: [{ name: 'format', in: 'query', schema: { enum: formats } }] },
      responses: { 200: { content: { [type]: {}, 'application/json': {} } } },
    },
  });
  const paths = {
    '/v1/sketches/{id}/screenshot': operation('sketch.screenshot', ['webp', 'png'], 'image/webp'),
    '/v1/forms/{id}/submissions': operation('form.submissions', ['json', 'csv'], 'text/csv'),
  };
  answers['GET /openapi.json'] = () => [200, { paths }];
  const status = { status: 'running', next_action: 'Ask again.' };
  for (const query of ['', '?format=webp']) answers[`GET /v1/sketches/s/screenshot${query}`] = () => [200, status];
  answers['GET /v1/forms/f/submissions'] = () => [200, { items: ['one'] }];
  const saved = await run(['form', 'submissions', 'f', '--to', 'all.txt'], { env });
  expect([saved.exit, saved.out, readFileSync(join(home, 'all.txt'), 'utf8')]).toEqual([
    0,
    'all.txt\n',
    '{"items":["one"]}',
  ]);
  for (const name of ['s.webp', 's.json']) {
    const { exit, err } = await run(['sketch', 'screenshot', 's', '--to', name], { env });
    expect([name, exit, err]).toEqual([name, 3, '→ Ask again.\n']);
  }
  expect(readdirSync(home)).not.toContain('s.json');
});

test('an import of what cannot be a site makes none', async () => {
  let made = 0;
  answers['POST /v1/sites'] = () => {
    made += 1;
    return refusal(409, 'name_taken');
  };
  await mkdir(join(home, 'empty', '.git'), { recursive: true });
  await writeFile(join(home, 'empty', '.git', 'HEAD'), 'x');
  await writeFile(join(home, 'page.html'), 'x');
  await mkdir(join(home, 'project', 'public'), { recursive: true });
  await writeFile(join(home, 'project', 'public', '_headers'), '/*\n  X-Powered-By: me\n');
  for (const args of [['--built', 'page.html'], ['--built', 'empty'], ['page.html'], ['empty'], ['nothing']]) {
    const { exit, err } = await run(['import', ...args, '--yes']);
    expect([exit, err]).toEqual([2, expect.stringMatching(/✗ There (is no folder|are no files of a)/)]);
  }
  const fault = 'Line 2 of public/_headers sets X-Powered-By';
  expect(await run(['import', 'project', '--yes'])).toMatchObject({ exit: 1, err: expect.stringContaining(fault) });
  await mkdir(join(home, 'mono', 'apps', 'web', 'public'), { recursive: true });
  await writeFile(join(home, 'mono', 'apps', 'web', 'astro.config.mjs'), 'export default {};');
  const monorepo = await run(['import', 'mono', '--yes']);
  expect([monorepo.exit, monorepo.err]).toEqual([2, expect.stringContaining("→ add --root 'apps/web'")]);
  const shown = await run(['import', 'mono', '--root', 'apps/web']);
  expect([shown.exit, shown.err]).toEqual([4, expect.stringContaining('Makes the site web')]);
  expect(made).toBe(0);
});

test('warnings are one line for each kind, with its first places', async () => {
  const broken = {
    kind: 'broken_link',
    path: 'a.html',
    target: '/gone',
    message: 'a.html links to /gone.',
    count: 3,
    places: ['a.html', 'b.html', 'c.html'],
  };
  const alone = { kind: 'large_file', path: 'big.bin', message: 'big.bin is large.', count: 1, places: ['big.bin'] };
  const texts = Array.from({ length: 35 }, (_, n) => {
    const path = `${n}.html`;
    return { kind: 'template_text', path, target: 'A name', message: `${path} shows it.`, count: 1, places: [path] };
  });
  answers['GET /v1/sites/site_x'] = () => [200, { id: 'site_x', address: 'http://shop.localhost' }];
  const publish = async (items: unknown[]) => {
    const version = { id: 'dep_x', number: 1, status: 'live', warnings: { items } };
    answers['POST /v1/sites/site_x/publish'] = () => [200, version];
    const { err, out } = await run(['publish', 'site_x'], { env: { FRONTAGE_TOKEN: 'fro_x' } });
    expect(out).not.toContain('warnings');
    return err.split('\n').slice(1, -1);
  };
  const few = ['! a.html links to /gone. (3 in all, also: b.html, c.html)', '! big.bin is large.'];
  expect(await publish([broken, alone])).toEqual(few);
  expect(await publish([broken, alone, ...texts])).toEqual([
    ...few,
    '! 0.html shows it. (35 in all, also: 1.html “A name”, 2.html “A name”, 3.html “A name”, 4.html “A name”)',
    '→ for all of them: frontage deployment read dep_x --json',
  ]);
});
