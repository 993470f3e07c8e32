/** Schemathesis: requests made from our own description, thousands of them, each answer held against that description. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executableAt } from '../../local/temporal-cli.ts';
import { table } from './access-table.ts';
import { type AccessWorld, createAccessWorld } from './access-world.ts';

const python = process.env.FRONTAGE_TEST_PYTHON;
const tool = executableAt('schemathesis', python ? [dirname(python)] : []);
/** Cases for each operation, at most; with it, also what is on the edge of each schema, and calls in turn on one thing. */
const wanted = process.env.FRONTAGE_GENERATED_CASES;
const phases = process.env.FRONTAGE_GENERATED_PHASES ?? (wanted ? 'coverage,fuzzing,stateful' : 'fuzzing');

let world: AccessWorld;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'frontage-generated-'));
  if (tool) world = await createAccessWorld();
}, 60_000);
afterAll(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Where an operation is about something, this is a thing that there is, so that requests get behind the door. */
async function parametersOf(name: string): Promise<string> {
  const known = name.includes(' /v1/deployments/') ? world.deploymentId : world.siteId;
  const parts = { id: known, ...(await table[name]?.path?.(world)) };
  const used = Object.entries(parts).filter(([part]) => name.includes(`{${part}}`));
  const lines = used.map(([part, value]) => `"path.${part}" = ${JSON.stringify(value)}`);
  if (name === 'GET /v1/inbox') lines.push('"query.wait" = 0');
  return `[[operations]]\ninclude-name = ${JSON.stringify(name)}\nparameters = { ${lines.join(', ')} }\n`;
}

/**
 * All checks are on. What is well-formed may still be refused for what it means (another's cursor, a name that is taken), and what a
 * deployment has switched off says so with 501 or 503: a 500 is never right.
 */
const checks = `
[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 501, 502, 503]
positive_data_acceptance.expected-statuses = ["2xx", "3xx", 400, 401, 402, 403, 404, 405, 409, 410, 422, 429, 501, 502, 503]
`;

async function generate(name: string, config: string, args: string[]): Promise<{ exit: number; said: string }> {
  const file = join(folder, `${name}.toml`);
  await writeFile(file, `${checks}\n${config}`);
  const where = ['--config-file', file, 'run', `${world.url}/openapi.json`, '--url', world.url, '--phases', phases];
  // One thread: CPython before 3.11.8 counts the depth of syntax trees for all threads together (gh-106905) and breaks off.
  const how = ['--no-color', '--continue-on-failure', '--workers', '1', '--max-examples', wanted ?? '1'];
  const seed = ['--seed', process.env.FRONTAGE_SEED ?? '1', '-H', 'Prefer: respond-async'];
  const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  const said = await new Promise<{ exit: number; said: string }>((resolve) => {
    execFile(tool as string, [...where, ...how, ...seed, ...args], options, (error, out) =>
      resolve({ exit: error ? Number(error.code) : 0, said: out }),
    );
  });
  console.info(`${name}: ${/\d+ generated.*/.exec(said.said)?.[0]}`);
  return said;
}

const patience = { timeout: 3600_000 };

test(
  'what is asked with a token, of things that there are, gets no answer that is not in the description',
  patience,
  async ({ skip }) => {
    skip(!tool, 'no schemathesis');
    const names = Object.keys(table).filter((name) => name.includes('{') || name === 'GET /v1/inbox');
    const parts: string[] = [];
    for (const name of names) parts.push(await parametersOf(name));
    const args = ['--header', `Authorization: Bearer ${world.token}`];
    const { exit, said } = await generate('with a token', parts.join('\n'), args);
    expect(exit, said).toBe(0);
  },
);

test('what is asked without a token, of anything, gets none either', patience, async ({ skip }) => {
  skip(!tool, 'no schemathesis');
  const { exit, said } = await generate('without a token', '', []);
  expect(exit, said).toBe(0);
});
