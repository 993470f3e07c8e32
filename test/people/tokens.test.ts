import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { callWith } from '#test/api/fixture.ts';
import { createPeopleFixture } from './fixture.ts';

const fixture = await createPeopleFixture();
const second = await fixture.start();
afterAll(() => fixture.close());

test('a token is looked up by its hash in one indexed read', async () => {
  const { accountId } = await fixture.newOwner();
  const em = fixture.deps.em();
  await em.execute(
    `insert into token (id, account_id, name, hash, last_four, created_at)
     select 'tok_' || n, ?, 'many', sha256(n::text::bytea), '0000', ? from generate_series(1, 5000) n`,
    [accountId, fixture.clock.now()],
  );
  const { secret } = await issueToken(em, fixture.clock, accountId, { name: 'one of many' });
  const call = callWith(fixture.url, secret);
  await call('GET', '/v1/account');
  const client = new pg.Client(fixture.database.url);
  await client.connect();
  try {
    await client.query('analyze token');
    const lookup = await statementOfLookup(call);
    const { rows } = await client.query(`explain ${lookup.replace(/limit \?/, 'limit 1').replace('?', "'\\x00'")}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Index Scan using token_hash_key on token');
    expect(plan).not.toContain('Seq Scan');
  } finally {
    await client.end();
  }
});

/** The statements that read tokens while `call` is answered: there is one before anything else is done. */
async function statementOfLookup(call: ReturnType<typeof callWith>): Promise<string> {
  const connection = fixture.deps.orm.em.getConnection();
  const seen: string[] = [];
  const execute = connection.execute.bind(connection);
  connection.execute = ((query: string, ...rest: unknown[]) => {
    seen.push(String(query));
    return (execute as (...all: unknown[]) => unknown)(query, ...rest);
  }) as typeof connection.execute;
  try {
    await call('GET', '/v1/tokens?limit=1');
  } finally {
    connection.execute = execute as typeof connection.execute;
  }
  const lookups = seen.filter((one) => /from "token"/.test(one) && /"hash" = /.test(one));
  expect(lookups).toHaveLength(1);
  expect(seen.indexOf(lookups[0] ?? '')).toBe(0);
  return lookups[0] ?? '';
}

test('tokens are compared by the indexed lookup alone', () => {
  const root = join(import.meta.dirname, '../..');
  const files = ['api/plugins/bearer.ts', ...globSync('api/tokens/*.ts', { cwd: root })];
  for (const file of files)
    expect(readFileSync(join(root, file), 'utf8')).not.toMatch(/timingSafeEqual|\.equals\(|hash\s*[!=]==/);
});

test('a revoked token is invalid at once, on every process', async () => {
  const { accountId } = await fixture.newOwner();
  const issue = () => issueToken(fixture.deps.em(), fixture.clock, accountId, { name: 'laptop' });
  const [kept, lost] = [await issue(), await issue()];
  const everywhere = [callWith(fixture.url, lost.secret), callWith(second.url, lost.secret)];
  const statuses = () => Promise.all(everywhere.map(async (call) => (await call('GET', '/v1/account')).status));
  expect(await statuses()).toEqual([200, 200]);
  expect((await callWith(second.url, kept.secret)('DELETE', `/v1/tokens/${lost.token.id}`)).status).toBe(200);
  expect(await statuses()).toEqual([401, 401]);
});
