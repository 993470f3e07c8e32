/**
 * The command line of the MCP Inspector lists the tools and calls each: a client that is not ours, one process for each call, so only the long form
 * has it. `FRONTAGE_INSPECTOR` is the path of its program `mcp-inspector`.
 * @module-tag mcp-inspector
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessFixture, createAccessFixture } from '#test/api/access/access-fixture.ts';
import { routesOf } from '#test/api/samples.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { callerOf } from './fixture.ts';
import { again, entries, inputFor, throughApi, whoOf } from './samples.ts';

const program = await pathOf('mcp-inspector');
/** The CLI starts anew for each call. */
const slow = { timeout: 1800_000 };
let fixture: AccessFixture;
let home = '';
beforeAll(async () => {
  fixture = await createAccessFixture();
  home = await mkdtemp(join(tmpdir(), 'frontage-inspector-'));
}, 60_000);
afterAll(async () => {
  await fixture?.close();
  await rm(home, { recursive: true, force: true });
});

async function inspect<Result>(who: 'owner' | 'invitee', args: string[]): Promise<Result> {
  const where = ['--cli', '--server-url', `${fixture.url}/mcp`, '--transport', 'http'];
  const how = ['--header', `Authorization: Bearer ${fixture.tokens[who]}`, '--format', 'json', '--quiet'];
  const options = { env: { ...process.env, HOME: home }, maxBuffer: 64 * 1024 * 1024 };
  return await new Promise((resolve, reject) => {
    execFile(program, [...where, ...how, ...args], options, (error, out, err) => {
      // A tool's refusal is an answer all the same, and the exit code says so.
      if (out.trim().startsWith('{')) resolve(JSON.parse(out).result as Result);
      else reject(new Error(`${args.join(' ')}: ${err || error?.message}`));
    });
  });
}

// biome-ignore lint/suspicious/noExplicitAny: a result of either form.
const errorIn = (read: any) => read.refused?.error ?? read.error;

test('the inspector lists every tool, and each call matches the API', slow, async () => {
  const { tools } = await inspect<{ tools: Tool[] }>('owner', ['--method', 'tools/list']);
  const routes = routesOf(await fixture.document());
  const told: [string, string][] = [];
  for (const [name, entry] of entries) {
    const route = routes.find(({ method, path }) => `${method} ${path}` === name);
    const operation = route?.operation.operationId ?? '';
    const tool = operation.replace('.', '_');
    const through = callerOf(tool);
    // What is off here is not listed, and the inspector calls nothing else.
    if (!through && !tools.some((one) => one.name === tool)) continue;
    const own = await inputFor(fixture, operation, [name, entry]);
    const input = JSON.stringify(through ? { calls: [{ operation: tool, arguments: own }] } : own);
    const args = ['--method', 'tools/call', '--tool-name', through ?? tool, '--tool-args-json', input];
    const { isError, content } = await inspect<CallToolResult>(whoOf(entry), args);
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    // What the inspector itself refuses to send is told in words.
    expect([name, isError && !text.startsWith('{') ? text : '']).toEqual([name, '']);
    const viaTool = isError ? errorIn(JSON.parse(text)).code : 'answered';
    told.push([name, viaTool]);
    const viaApi = await throughApi(fixture, name, entry);
    expect([name, viaApi]).toEqual([name, again[name] ?? viaTool]);
  }
  const called = told.filter(([, outcome]) => outcome === 'answered').length;
  console.info(
    `${tools.length} listed, ${told.length} called, ${called} of them answered, the others refused as by the API`,
  );
  expect(told.length).toBeGreaterThan(120);
});
