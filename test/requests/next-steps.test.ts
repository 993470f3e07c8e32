/** Next steps name calls in the words of each caller. */
import { afterAll, expect, test } from 'vitest';
import { call, everydayTools, renderCalls, type Surface } from '#rules/calls/calls.ts';
import { type OperationName, operations } from '#rules/calls/operations.ts';
import { catalog } from '#runtime/errors.ts';
import { createFixture, createSite, errorOf } from '#test/api/fixture.ts';
import { routesOf } from '#test/api/samples.ts';
import { connect } from '#test/mcp/fixture.ts';
import { files, text } from '#test/source-files.ts';
import { allExamples } from '#tools/scripts/docs/mails-page.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();

const http = /\b(GET|POST|PUT|PATCH|DELETE) [/`…]/;
const client = /\bfrontage [a-z-]+/;
const tool = /\b[a-z]+_[a-z_]+ \{|_operations\b/;
const query = /[?&][a-z_]+=/;
/** What must not appear in the texts of each surface. */
const foreign: Record<Surface, RegExp[]> = {
  http: [client, tool],
  client: [http, tool, query],
  mcp: [http, client, query],
};
const open = /\{\w+\}|⟦|undefined/;
const surfaces = Object.keys(foreign) as Surface[];

test('the table of operations equals the routes', async () => {
  const described = routesOf((await owner.call('GET', '/openapi.json')).body)
    .filter(({ path }) => /^\/(v1|b|f)\//.test(path))
    .map(({ method, path, operation }) => [operation.operationId, `${method} ${path}`]);
  const rows = [...described, ['openapi.read', 'GET /openapi.json']]
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map(([name, words]) => `  '${name}': '${words}',`);
  await expect(`/** The calls of every operation of the API. Written by \`npx vitest run -u test/requests/next-steps.test.ts\`. */
export const operations = {
${rows.join('\n')}
} as const;

export type OperationName = keyof typeof operations;
`).toMatchFileSnapshot('../../rules/calls/operations.ts');
});

test('an operation is written in the words of each surface, without the others', () => {
  for (const name of Object.keys(operations) as OperationName[]) {
    for (const surface of surfaces) {
      const said = renderCalls(`Use ${call(name, { note: 'a b' })}.`, surface);
      for (const words of [...foreign[surface], open])
        expect([surface, said]).not.toEqual([surface, expect.stringMatching(words)]);
    }
  }
  const site = { id: 'site_1', name: 'bakery' };
  const said = (text: string, known = {}) => surfaces.map((surface) => renderCalls(text, surface, known));
  expect(said(call('site.publish', { id: site, scope: 'site' }))).toEqual([
    'POST /v1/sites/site_1/publish { "scope": "site" }',
    '`frontage publish bakery --scope site`',
    '`site_publish {"id":"site_1","scope":"site"}`',
  ]);
  expect(said(call('form.delete', { confirm: true }), { form: 'form_1' })).toEqual([
    'DELETE /v1/forms/form_1?confirm=true',
    '`frontage form delete form_1 --confirm true`',
    '`call_operations {"calls":[{"operation":"form_delete","arguments":{"id":"form_1","confirm":true}}]}`',
  ]);
  expect(said(call('deployment.list'))).toEqual([
    'GET /v1/sites/site_…/deployments',
    '`frontage deployment list site_…`',
    '`deployment_list {"id":"site_…"}`',
  ]);
  expect(said(call('token.list'))[2]).toBe('`read_operations {"calls":[{"operation":"token_list"}]}`');
  expect(everydayTools.length).toBeLessThanOrEqual(17);
});

test('every remedy of the catalog is written for each surface', () => {
  for (const [code, { remedy, when }] of Object.entries(catalog)) {
    for (const surface of surfaces) {
      const said = `${renderCalls(remedy, surface)} ${when}`;
      for (const words of [...foreign[surface], open])
        expect([code, surface, said]).not.toEqual([code, surface, expect.stringMatching(words)]);
    }
  }
});

test('code names calls by their operation only', () => {
  const rooms = /^(activities|api|db|git|providers|rules|runtime)\/(?!migrations|mcp\/)/;
  const spelled = files
    .filter((file) => rooms.test(file) && file.endsWith('.ts') && !/rules\/calls\/operations|db\/migrations/.test(file))
    .flatMap((file) =>
      text(file)
        .replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
        .split('\n')
        .filter(
          (line) =>
            /\b(GET|POST|PUT|PATCH|DELETE) \/(v1|b|f)\b/.test(line) || /[Aa]ction.*\bfrontage [a-z]+/.test(line),
        )
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(spelled).toEqual([]);
});

test('mails, pages and widgets contain no call', () => {
  const calls = [/\b(GET|POST|PUT|PATCH|DELETE) \//, /⟦/, /\bfrontage (site|publish|login|form|booking) /, tool];
  for (const { kind, mail } of allExamples())
    for (const words of calls) expect([kind, mail.text]).not.toEqual([kind, expect.stringMatching(words)]);
  const drawn = files.filter((file) => file.startsWith('web/') && /\.(ts|js)$/.test(file));
  for (const file of drawn) {
    const code = text(file).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    for (const words of calls.slice(0, 3)) expect([file, code]).not.toEqual([file, expect.stringMatching(words)]);
  }
});

test('a next step has the caller’s words, and the ids that it named', async () => {
  const site = await createSite(owner, { template: 'blank' });
  const at = `/v1/sites/${site.id}/files?path=none`;
  const fromClient = { headers: { 'user-agent': 'frontage-client/1 node/24' } };
  const list = `/v1/sites/${site.id}/files`;
  expect(errorOf(await owner.call('GET', at)).next_action).toContain(`Call GET ${list} `);
  expect(errorOf(await owner.call('GET', at, fromClient)).next_action).toContain(
    `\`frontage source files ${site.id}\``,
  );
  const agent = await connect(fixture.url, owner.token);
  const { error } = await agent.call('source_files', { id: site.id, path: 'none' });
  expect(error.next_action).toContain(`\`source_files {"id":"${site.id}"}\``);
  await agent.close();
  const inbox = await owner.call('GET', '/openapi.json', fromClient);
  expect(inbox.text).not.toMatch(/⟦/);
});

test('an id of another kind is not found, and explained', async () => {
  const site = await createSite(owner, { template: 'blank' });
  const told = errorOf(await owner.call('GET', `/v1/deployments/${site.id}`));
  expect(told).toMatchObject({
    code: 'not_found',
    message: `${site.id} is the id of a site; this takes a deployment (dep_…).`,
    next_action: expect.stringContaining('GET /v1/sites/site_…/deployments'),
  });
  // Somebody else's and an invented id are explained alike.
  const invented = 'dep_00000000000000000000000000';
  expect(errorOf(await owner.call('GET', `/v1/sites/${invented}`)).message).toBe(
    `${invented} is the id of a deployment; this takes a site (site_…).`,
  );
  expect(errorOf(await owner.call('GET', '/v1/sites/site_00000000000000000000000000')).message).toContain('No site');
});
