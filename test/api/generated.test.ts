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
/** Cases for each operation, at most. */
const cases = Number(process.env.FRONTAGE_GENERATED_CASES ?? 8);

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

type Ran = { exit: number; said: string; count: number };

async function generate(name: string, config: string, args: string[]): Promise<Ran> {
  const file = join(folder, `${name}.toml`);
  await writeFile(file, config);
  const seed = process.env.FRONTAGE_SEED ?? '1';
  const options = [
    '--no-color',
    '--continue-on-failure',
    '--max-examples',
    String(cases),
    '--seed',
    seed,
    '-H',
    'Prefer: respond-async',
  ];
  const all = [
    '--config-file',
    file,
    'run',
    `${world.url}/openapi.json`,
    '--url',
    world.url,
    ...options,
    ...args,
    ...(process.env.ARGS ?? '').split(' ').filter(Boolean),
  ];
  return await new Promise((resolve) => {
    execFile(tool as string, all, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (error, said) => {
      const count = Number(/Test cases:\s+(\d+) generated/.exec(said)?.[1] ?? /(\d+) generated/.exec(said)?.[1] ?? 0);
      resolve({ exit: error ? Number(error.code) : 0, said, count });
    });
  });
}

const long = { timeout: 3600_000 };

test(
  'no request that can be made from the description gets an answer that is not in it: with a token, on what there is',
  long,
  async ({ skip }) => {
    skip(!tool, 'no schemathesis');
    const names = Object.keys(table).filter((name) => name.includes('{') || name === 'GET /v1/inbox');
    const parts: string[] = [];
    for (const name of names) parts.push(await parametersOf(name));
    const { exit, said } = await generate('known', parts.join('\n'), ['-H', `Authorization: Bearer ${world.token}`]);
    if (process.env.OUT) await writeFile(process.env.OUT, said);
    expect(exit, said).toBe(0);
  },
);
