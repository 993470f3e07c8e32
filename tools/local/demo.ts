/** The demo of a first start: an owner with a token, and a site published through the API. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callApi } from './client.ts';
import { readJson, writePrivate } from './data-folder.ts';
import { demoFiles, fillPlaceholders } from './demo-texts.ts';
import { type Owner, openAccount } from './owner.ts';
import type { Addresses, Stack } from './stack.ts';
import { UserError } from './user-error.ts';

/** Not `demo`: that name is reserved. */
const name = 'workshop';
const title = 'The workshop on the quay';
/** The address of the owner of the demo. */
export const ownersEmail = 'owner@example.com';

/** The owner of the first start; created again if the database no longer accepts the token. */
export async function ensureOwner(stack: Addresses): Promise<Owner> {
  const file = join(stack.dataDir, 'owner.json');
  const known = readJson<Owner>(file);
  const answer = known && (await callApi(stack.baseUrl, '/v1/account', { token: known.access_token }));
  if (known && answer?.status === 200) return known;
  const owner = await openAccount(stack.env, ownersEmail, 'Owner', 'npm start');
  writePrivate(file, JSON.stringify(owner));
  return owner;
}

export type Demo = { id: string; address: string; live_deployment_id: string | null };

/** The demo site, created from a template at the first start. Throws `UserError`. */
export async function ensureDemo(stack: Stack, owner: Owner): Promise<Demo> {
  const { items } = await call(stack, owner, '/v1/sites?limit=200');
  const existing = items.find((site: { name: string }) => site.name === name);
  return existing ?? (await call(stack, owner, '/v1/sites', { name, title, template: 'business' }));
}

/** Writes and publishes the site unless it is live, and returns it when it is live. Throws `UserError`. */
export async function publishDemo(stack: Stack, owner: Owner, demo: Demo, note: (line: string) => void): Promise<Demo> {
  if (demo.live_deployment_id) return demo;
  const log = join(stack.dataDir, 'logs', 'worker.log');
  const deadline = performance.now() + 600_000;
  await writeTexts(stack, owner, demo);
  let deployment = await call(stack, owner, `/v1/sites/${demo.id}/publish`, { scope: 'site' });
  while (deployment.status !== 'live') {
    if (deployment.error)
      throw new UserError(`The demo site was not published: ${deployment.error.message} See ${log}.`);
    if (performance.now() > deadline) throw new UserError(`The demo site has not been published yet. See ${log}.`);
    await sleep(500);
    deployment = await call(stack, owner, `/v1/deployments/${deployment.id}`);
    note(deployment.status);
  }
  return { ...demo, live_deployment_id: deployment.id };
}

/** Replaces the placeholders of each repository that is still the template's, by a commit. */
async function writeTexts(stack: Stack, { access_token: token }: Owner, { id }: Demo): Promise<void> {
  const query = new URLSearchParams(demoFiles.map((path): [string, string] => ['path', path]));
  const { status, body } = await callApi(stack.baseUrl, `/v1/sites/${id}/files?${query}`, { token });
  if (status !== 200) return; // One of them is gone: the site is somebody's work.
  const files = Map.groupBy(body.items as SourceFile[], ({ repository }) => repository);
  for (const [, own] of files) {
    const changes = own.map(({ path, text }) => ({ path, text: fillPlaceholders(path, text) }));
    if (changes.some(({ text }) => text === undefined)) continue;
    const commit = { message: 'Write the texts of the demo', changes, expected_head: own[0]?.commit };
    await callApi(stack.baseUrl, `/v1/sites/${id}/commits`, { token, body: commit });
  }
}

type SourceFile = { path: string; text: string; repository: string; commit: string };

async function call(stack: Stack, { access_token: token }: Owner, path: string, body?: unknown) {
  const answer = await callApi(stack.baseUrl, path, { token, body, headers: { prefer: 'wait=5' } });
  if (answer.status === 200) return answer.body;
  const { message = `The API returned ${answer.status}.`, next_action: remedy = '' } = answer.body?.error ?? {};
  throw new UserError(`The demo site was not published: ${message} ${remedy}`.trimEnd());
}
