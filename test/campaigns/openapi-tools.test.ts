/** The programs that check an OpenAPI description find nothing wrong with ours, and clients that they generate work. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFixture } from '#test/api/fixture.ts';
import { pathOf } from '#test/stack/requirements.ts';

const tools = await pathOf('openapi-tools');
const bin = (name: string) => join(tools, 'node_modules/.bin', name);

let home = '';
let description = '';
let env: NodeJS.ProcessEnv = {};
let close = async () => {};
beforeAll(async () => {
  const fixture = await createFixture();
  close = fixture.close;
  const { token } = await fixture.newCaller();
  env = {
    ...process.env,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    FRONTAGE_URL: fixture.url,
    FRONTAGE_TOKEN: token,
  };
  description = await (await fetch(`${fixture.url}/openapi.json`)).text();
  home = await mkdtemp(join(tmpdir(), 'frontage-openapi-'));
  await writeFile(join(home, 'openapi.json'), description);
  await writeFile(join(home, 'spectral.yaml'), 'extends: spectral:oas\n');
  await writeFile(join(home, 'package.json'), '{ "type": "module" }');
  if (tools !== '') await symlink(join(tools, 'node_modules'), join(home, 'node_modules'));
});
afterAll(async () => {
  await close();
  if (home !== '') await rm(home, { recursive: true, force: true });
});

/** Runs a program in the folder of the description. Rejects with its output if it fails. */
const run = async (program: string, ...args: string[]) => {
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: home, env, maxBuffer: 1e8 });
  return stdout + stderr;
};

test('redocly and spectral have no warnings', { timeout: 300_000, tags: 'openapi-tools' }, async () => {
  // The address of the test is a local one.
  const lint = ['--extends=recommended', '--format=json', '--skip-rule=no-server-example.com'];
  const redocly = await run(bin('redocly'), 'lint', 'openapi.json', ...lint);
  expect(JSON.parse(redocly.slice(redocly.indexOf('{'), redocly.lastIndexOf('}') + 1)).problems).toEqual([]);
  const spectral = await run(bin('spectral'), 'lint', 'openapi.json', '-r', 'spectral.yaml', '-F', 'hint', '-q');
  expect(spectral.trim()).toBe('');
});

const typescript = `import createClient from 'openapi-fetch';
import type { paths } from './schema.d.ts';
const client = createClient<paths>({
  baseUrl: process.env.FRONTAGE_URL as string,
  headers: { authorization: \`Bearer \${process.env.FRONTAGE_TOKEN}\` },
});
const made = await client.POST('/v1/sites', { body: { name: 'by-typescript', title: 'T', template: 'blank' } });
if (!made.data) throw new Error(JSON.stringify(made.error));
const params = { path: { id: made.data.id } };
const asset = await client.PUT('/v1/sites/{id}/assets/{path}', {
  params: { path: { id: made.data.id, path: 'src/static/note.txt' } },
  body: 'bytes',
  bodySerializer: (text: string) => text,
  headers: { 'content-type': 'application/octet-stream' },
});
if (!asset.data) throw new Error(JSON.stringify(asset.error));
const files = await client.GET('/v1/sites/{id}/files', { params: { ...params, query: { path: 'src/static/note.txt' } } });
const read: string | undefined = files.data?.kind === 'file' ? files.data.text : undefined;
console.log(read);
`;

test('a client of openapi-typescript compiles and works', { timeout: 300_000, tags: 'openapi-tools' }, async () => {
  await run(bin('openapi-typescript'), 'openapi.json', '-o', 'schema.d.ts');
  await writeFile(join(home, 'client.ts'), typescript);
  const options = '--strict --noEmit --skipLibCheck --module nodenext --target es2022 --allowImportingTsExtensions';
  const types = ['--types', 'node', '--typeRoots', join(import.meta.dirname, '../../node_modules/@types')];
  await run(bin('tsc'), ...options.split(' '), ...types, 'client.ts');
  expect((await run(process.execPath, 'client.ts')).trim()).toBe('bytes');
});

const python = `import os
from io import BytesIO
from frontage_client import AuthenticatedClient
from frontage_client.api.sites import site_create
from frontage_client.api.assets import asset_write
from frontage_client.api.source import source_files
from frontage_client.models import SiteCreateBody, SourceFile
from frontage_client.types import File
client = AuthenticatedClient(base_url=os.environ["FRONTAGE_URL"], token=os.environ["FRONTAGE_TOKEN"])
site = site_create.sync(client=client, body=SiteCreateBody(name="by-python", title="T", template="blank"))
asset_write.sync(site.id, "src/static/note.txt", client=client, body=File(payload=BytesIO(b"bytes")))
read = source_files.sync(site.id, client=client, path="src/static/note.txt")
assert isinstance(read, SourceFile), read
print(read.text)
`;

test('a client of openapi-python-client is generated without warnings and works', {
  timeout: 300_000,
  tags: 'openapi-python-client',
}, async () => {
  // The generator knows JSON, text and bytes.
  const known = /^(text\/|application\/(json|octet-stream|x-www-form-urlencoded)$|multipart\/)/;
  const types = [...description.matchAll(/"([\w*]+\/[\w*+.-]+)":\{/g)].map(([, type = '']) => type);
  const overrides = Object.fromEntries(
    types.filter((type) => !known.test(type)).map((type) => [type, 'application/octet-stream']),
  );
  await writeFile(join(home, 'python.json'), JSON.stringify({ content_type_overrides: overrides, post_hooks: [] }));
  const options = '--path openapi.json --config python.json --meta none --output-path frontage_client'.split(' ');
  const said = await run(await pathOf('openapi-python-client'), 'generate', ...options);
  expect(said).not.toMatch(/warning|error|unable/i);
  await writeFile(join(home, 'client.py'), python);
  const interpreter = process.env.FRONTAGE_TEST_PYTHON ?? 'python3';
  expect((await run(interpreter, 'client.py')).trim()).toBe('bytes');
});
