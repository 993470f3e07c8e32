/**
 * The programs that read an OpenAPI document find nothing to say about ours, and clients that they generate work.
 * @module-tag openapi-tools
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFixture } from '#test/api/fixture.ts';
import { pathOf } from '#test/stack/requirements.ts';

const tools = await pathOf('openapi-tools');
const fixture = await createFixture();
const owner = await fixture.newCaller();
const home = await mkdtemp(join(tmpdir(), 'frontage-openapi-'));
afterAll(async () => {
  await fixture.close();
  await rm(home, { recursive: true, force: true });
});
const env = { ...process.env, FRONTAGE_URL: fixture.url, FRONTAGE_TOKEN: owner.token };
/** Runs a program in the folder of the document. Rejects with its output if it fails. */
const run = async (program: string, ...args: string[]) => {
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: home, env, maxBuffer: 1e8 });
  return stdout + stderr;
};
const bin = (name: string) => join(tools, 'node_modules/.bin', name);

beforeAll(async () => {
  await writeFile(join(home, 'openapi.json'), await (await fetch(`${fixture.url}/openapi.json`)).text());
  await writeFile(join(home, 'spectral.yaml'), 'extends: [[spectral:oas, all]]\n');
  await writeFile(join(home, 'package.json'), '{ "type": "module" }');
  await symlink(join(tools, 'node_modules'), join(home, 'node_modules'));
});

test('redocly and spectral have no warnings', { timeout: 300_000 }, async () => {
  const redocly = await run(bin('redocly'), 'lint', 'openapi.json', '--extends=recommended', '--format=json');
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

test('a client of openapi-typescript compiles and works', { timeout: 300_000 }, async () => {
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
from frontage_client.api.site import site_create
from frontage_client.api.asset import asset_write
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

test('a client of openapi-python-client is generated without warnings and works', { timeout: 300_000 }, async () => {
  const said = await run(
    join(tools, 'py/bin/openapi-python-client'),
    'generate',
    '--path',
    'openapi.json',
    '--meta=none',
    '--output-path',
    'frontage_client',
  );
  expect(said).not.toMatch(/WARNING|ERROR|warning|Unable/);
  await writeFile(join(home, 'client.py'), python);
  expect((await run(join(tools, 'py/bin/python'), 'client.py')).trim()).toBe('bytes');
});
