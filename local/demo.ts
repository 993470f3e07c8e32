/** What a first start leaves to play with: an owner with a token, and a site published through the API. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, callApi } from './client.ts';
import { type Owner, openAccount } from './operator.ts';
import { Problem } from './problem.ts';
import type { Stack } from './stack.ts';

/** Not `demo`: that is among the names no site may take. */
const name = 'workshop';

/** The owner of the first start; opened anew where the database does not know its token any more. */
export async function keepOwner(stack: Stack): Promise<Owner> {
  const file = join(stack.dataDir, 'owner.json');
  if (existsSync(file)) {
    const owner: Owner = JSON.parse(readFileSync(file, 'utf8'));
    const answer = await callApi(stack.baseUrl, '/v1/account', { token: owner.access_token });
    if (answer.status === 200) return owner;
  }
  const owner = await openAccount(stack.env, 'owner@example.com', 'Owner');
  writeFileSync(file, JSON.stringify(owner), { mode: 0o600 });
  chmodSync(file, 0o600);
  return owner;
}

export type Demo = { id: string; address: string };

/** The demo site, made from a template and published if it is not live yet. Throws one line when it cannot be. */
export async function publishDemo(stack: Stack, owner: Owner, note: (line: string) => void): Promise<Demo> {
  const api = async (path: string, body?: unknown) =>
    expectOk(await callApi(stack.baseUrl, path, { token: owner.access_token, body, headers: { prefer: 'wait=5' } }));
  const { items } = await api('/v1/sites?limit=200');
  const existing = items.find((site: { name: string }) => site.name === name);
  const site = existing ?? (await api('/v1/sites', { name, title: 'The workshop on the quay', template: 'business' }));
  if (site.live_deployment_id) return site;
  const patience = performance.now() + 600_000;
  let deployment = await api(`/v1/sites/${site.id}/publish`, { scope: 'site' });
  while (deployment.status !== 'live') {
    if (deployment.error) throw new Problem(`The demo site was not published: ${deployment.error.message}`);
    if (performance.now() > patience)
      throw new Problem('The demo site is still not published; the log of the worker may say why.');
    await sleep(500);
    deployment = await api(`/v1/deployments/${deployment.id}`);
    note(deployment.status);
  }
  return site;
}

function expectOk(answer: Answer) {
  if (answer.status === 200) return answer.body;
  throw new Problem(`The demo site was not published: ${answer.body?.error?.message ?? `status ${answer.status}`}`);
}
