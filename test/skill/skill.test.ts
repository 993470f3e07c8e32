import { createHash } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { capabilities } from '#api/capabilities.ts';
import { inboxKinds } from '#api/inbox/item.ts';
import { packageGroups } from '#providers/sandbox/image/offered-packages.ts';
import { inCommands } from '#rules/calls/tool-names.ts';
import { loadSkillTree, removeDisabledParts } from '#skill/tree.ts';
import { callWith, createFixture, errorOf } from '#test/api/fixture.ts';
import { routesOf } from '#test/api/samples.ts';

const env = {
  FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1',
  FRONTAGE_CHALLENGE_KEY: 'a key of the tests',
  FRONTAGE_PHOTOS: 'offline',
  FRONTAGE_PAYOUT_RAILS: 'own_key',
  FRONTAGE_DOMAINS: 'cname',
  FRONTAGE_EDGE_ADDRESSES: '192.0.2.1',
  FRONTAGE_SCREENSHOTS: 'on',
};
const fixture = await createFixture(env);
const bare = await createFixture({
  FRONTAGE_PREVIEWS: 'off',
  FRONTAGE_BOOKINGS: 'off',
  FRONTAGE_SKETCHES: 'off',
  FRONTAGE_ANALYTICS: 'off',
});
afterAll(() => Promise.all([fixture.close(), bare.close()]));
const agent = await fixture.newCaller();
const anyone = callWith(fixture.url);
type Listed = { path: string; bytes: number; sha256: string };
const listOf = async (call = anyone, path = '/skill/'): Promise<Listed[]> => (await call('GET', path)).body.files;
const textOf = async (call: typeof anyone) => {
  const files = await listOf(call);
  const texts = await Promise.all(files.map(({ path }) => call('GET', `/skill/${path}`)));
  return texts.map(({ text }) => text).join('\n');
};
const everything = await loadSkillTree({
  baseUrl: 'https://api.example.com',
  packages: packageGroups(),
  isOn: () => true,
});
const markdown = [...everything.files.values()].filter(({ path }) => path.endsWith('.md'));

test('the tree is listed, and each file matches, with and without a token', async () => {
  const listed = await listOf(agent.call, '/v1/skill');
  expect(await listOf()).toEqual(listed);
  expect(listed.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['SKILL.md', 'stages/design.md', 'reference/errors.md']),
  );
  for (const { path, bytes, sha256 } of listed) {
    const open = await anyone('GET', `/skill/${path}`);
    const closed = await agent.call('GET', `/v1/skill/${path}`);
    expect([open.status, closed.status, closed.text]).toEqual([200, 200, open.text]);
    expect(open.headers.get('content-type')).toMatch(/^text\/(markdown|javascript); charset=utf-8$/);
    expect([Buffer.byteLength(open.text), createHash('sha256').update(open.text).digest('hex')]).toEqual([
      bytes,
      sha256,
    ]);
    const again = await anyone('GET', `/skill/${path}`, {
      headers: { 'if-none-match': open.headers.get('etag') ?? '' },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  }
});

test('the terminal client gets each page with its commands, as listed', async () => {
  const headers = { 'user-agent': 'frontage-client/1 node/24' };
  const listed: Listed[] = (await anyone('GET', '/skill/', { headers })).body.files;
  expect(listed.length).toBeGreaterThan(15);
  for (const { path, sha256 } of listed) {
    const { text } = await anyone('GET', `/skill/${path}`, { headers });
    expect([path, createHash('sha256').update(text).digest('hex')]).toEqual([path, sha256]);
    if (path.endsWith('.md')) expect(text).not.toMatch(/\b(GET|POST|PUT|PATCH|DELETE) \/(v1|b)\//);
  }
  expect(inCommands('`POST /v1/photos/search` `{ "query": "ash wood" }`, `GET /v1/inbox?wait=50`; `?spam=true`')).toBe(
    "`frontage photo search --query 'ash wood'`, `frontage inbox read --wait 50`; `--spam true`",
  );
  expect(inCommands('`POST /v1/sites/{id}/previews/1/publish` with `{ … }`, `GET /v1/nothing`')).toBe(
    '`frontage preview publish site_… 1` with `{ … }`, `GET /v1/nothing`',
  );
});

test('the tree’s version is in the account, and changes with any byte', async () => {
  const { version } = (await agent.call('GET', '/v1/skill')).body;
  expect((await agent.call('GET', '/v1/account')).body.skill).toBe(version);
  const elsewhere = await loadSkillTree({
    baseUrl: 'https://other.example.com',
    packages: packageGroups(),
    isOn: () => true,
  });
  expect(elsewhere.version).not.toBe(everything.version);
  expect(
    (await loadSkillTree({ baseUrl: 'https://api.example.com', packages: packageGroups(), isOn: () => true })).version,
  ).toBe(everything.version);
});

test('/llms.txt links to every page', async () => {
  const { status, text } = await anyone('GET', '/llms.txt');
  expect([status, text.startsWith('# Frontage\n\n> ')]).toEqual([200, true]);
  const links = [...text.matchAll(/\]\((\S+?)\)/g)].map(([, url]) => new URL(url ?? '').pathname);
  expect(links.length).toBeGreaterThan(15);
  for (const path of links) expect([path, (await anyone('GET', path)).status]).toEqual([path, 200]);
});

test('the tree omits disabled capabilities', async () => {
  const off = await textOf(callWith(bare.url));
  const on = await textOf(anyone);
  for (const word of ['previews/1', '/bookable', '/v1/sketches', '/analytics', '/v1/photos/search']) {
    expect([word, on.includes(word), off.includes(word)]).toEqual([word, true, false]);
  }
  const paths = (await listOf(callWith(bare.url))).map(({ path }) => path);
  expect(paths).not.toContain('reference/previews.md');
  expect(on + off).not.toMatch(/<!--|\{base_url\}/);
});

test('the inbox page says what to do about every kind, until when', () => {
  const page = everything.files.get('reference/inbox.md')?.bytes.toString() ?? '';
  const [head, ...rows] = [...page.matchAll(/^\| `(\w+)` \|(.+)\|(.+)\|$/gm)].map(([, ...cells]) => cells);
  expect(head).toEqual(['kind', ' What to do ', ' Gone when ']);
  expect(rows.map(([kind]) => kind).sort()).toEqual([...inboxKinds].sort());
  for (const [kind, , gone = ''] of rows) expect([kind, gone]).toEqual([kind, expect.stringMatching(/\w{3,} \w+/)]);
});

test.each(['../package.json', '%2e%2e/config.ts', 'tree.ts', 'nothing.md', 'stages', '%00', 'SKILL.md/x'])(
  'the tree holds no %s',
  async (path) => {
    for (const base of ['/v1/skill/', '/skill/']) {
      const answer = await agent.call('GET', `${base}${path}`);
      expect(errorOf(answer).code).toBe(path === '%00' ? 'invalid_input' : 'not_found');
    }
  },
);

test('SKILL.md has the front matter of the Agent Skills format, and is short', () => {
  const text = everything.files.get('SKILL.md')?.bytes.toString() ?? '';
  const [, front = ''] = /^---\n(.*?)\n---\n/s.exec(text) ?? [];
  const fields = Object.fromEntries(
    front.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  expect(fields.name).toMatch(/^[a-z0-9-]{1,64}$/);
  expect(fields.description?.length).toBeGreaterThan(50);
  expect(fields.description?.length).toBeLessThan(1024);
  expect(text.split('\n').length).toBeLessThan(500);
});

test('every file that a page names exists, and every file is named', () => {
  const named = new Set(
    markdown.flatMap(({ bytes }) =>
      [...bytes.toString().matchAll(/`((?:stages|design|reference)\/[\w/-]*\.md)`/g)].map(([, path]) => path ?? ''),
    ),
  );
  const there = markdown.map(({ path }) => path).filter((path) => path !== 'SKILL.md');
  expect([...named].sort()).toEqual(there.sort());
});

test('a deployment without e-mail sign-in mentions neither OAuth nor access requests', async () => {
  const told = async (call: typeof anyone) => {
    const [llms, skill] = [await call('GET', '/llms.txt'), await call('GET', '/skill/SKILL.md')];
    return [/OAuth/.test(llms.text), /auth\/requests|frontage\.mjs login|OAuth/.test(skill.text)];
  };
  expect(await told(anyone)).toEqual([true, true]);
  expect(await told(callWith(bare.url))).toEqual([false, false]);
});

test('every call that the skill teaches exists in the API', async () => {
  const routes = routesOf((await anyone('GET', '/openapi.json')).body);
  const known = new Set(routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '*')}`));
  const taught = [...(await textOf(anyone)).matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/v1\/[^`?\s]+)/g)];
  expect(taught.length).toBeGreaterThan(25);
  const calls = taught.map(
    ([, method, path = '']) => `${method} ${path.replaceAll(/\{\w+\}|(?<=previews\/)(?:1|<slot>)|(?<=\/)\w+_…/g, '*')}`,
  );
  expect(calls.filter((call) => !known.has(call))).toEqual([]);
});

test('the API accepts every body that the skill teaches', async () => {
  const text = markdown.map(({ bytes }) => bytes.toString()).join('\n');
  const taught = [...text.matchAll(/`(POST|PUT) (\/v1\/[^`?\s]+)`(?: with)? `(\{[^`]*\})`/g)];
  expect(taught.length).toBeGreaterThan(10);
  for (const [, method = '', path = '', body = ''] of taught) {
    const answer = await agent.call(method, path.replaceAll(/\{\w+\}/g, 'x'), { body: JSON.parse(body) });
    const code = answer.status === 200 ? 'accepted' : errorOf(answer).code;
    expect([path, code, ['invalid_json', 'invalid_input', 'internal'].includes(code)]).toEqual([path, code, false]);
  }
  const timetable = JSON.parse(/```json\n(.*?)```/s.exec(text)?.[1] ?? '');
  const { id } = (await agent.call('POST', '/v1/sites', { body: { name: 'timetable', title: 'T' } })).body;
  expect((await agent.call('POST', `/v1/sites/${id}/bookable`, { body: timetable })).status).toBe(200);
});

test('every marker names a capability, and an unclosed marker is an error', async () => {
  const asked = new Set<string>();
  await loadSkillTree({ baseUrl: 'x', packages: packageGroups(), isOn: (name) => asked.add(name).size > 0 });
  expect([...asked].filter((name) => !(capabilities as readonly string[]).includes(name))).toEqual([]);
  const only =
    (...on: string[]) =>
    (name: string) =>
      on.includes(name);
  const nested =
    'a\n<!-- with forms -->\nb\n<!-- with mail -->\nc\n<!-- end -->\n<!-- end -->\nd<!-- with mail --> e<!-- end -->.\n';
  expect(removeDisabledParts(nested, only('forms', 'mail'))).toBe('a\nb\nc\nd e.\n');
  expect(removeDisabledParts(nested, only('forms'))).toBe('a\nb\nd.\n');
  expect(removeDisabledParts(nested, only('mail'))).toBe('a\nd e.\n');
  expect(() => removeDisabledParts('<!-- with forms -->\nb', only())).toThrow('is not closed');
  expect(() => removeDisabledParts('b <!-- end -->', only())).toThrow('no matching start marker');
});
