/** The summary after a start: addresses, token, commands to try; and the same for programs. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { callApi } from './client.ts';
import type { Demo } from './demo.ts';
import type { Owner } from './owner.ts';
import type { Stack } from './stack.ts';

/** For programs: `dev.json` has addresses and token, `env` is for `node --env-file`. */
export function writeDevFiles(stack: Stack, owner: Owner, demo: Demo | undefined): void {
  const content = {
    base_url: stack.baseUrl,
    edge_url: stack.edgeUrl,
    base_domain: stack.baseDomain,
    temporal_ui_url: stack.temporalUiUrl,
    mail_url: stack.mailUrl,
    payments_url: stack.paymentsUrl,
    registrar_url: stack.registrarUrl,
    edge_tls_port: stack.registrarUrl ? stack.ports.edgeTls : null,
    access_token: owner.access_token,
    site_id: demo?.id ?? null,
  };
  const settings = Object.entries(stack.env).filter(([name]) => /^(FRONTAGE|DATABASE|TEMPORAL|DOCKER)_/.test(name));
  writePrivate(join(stack.dataDir, 'dev.json'), `${JSON.stringify(content, null, 2)}\n`);
  writePrivate(join(stack.dataDir, 'env'), settings.map(([name, value]) => `${name}="${value}"\n`).join(''));
}

function writePrivate(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
  chmodSync(file, 0o600);
}

/** The text to print when everything runs. Issues a git password for the demo site, valid for a day. */
export async function describe(stack: Stack, owner: Owner, demo: Demo | undefined): Promise<string> {
  const rows = [
    ...(demo ? [['Demo site', demo.address]] : []),
    ['API', stack.baseUrl],
    ['API docs', `${stack.baseUrl}/docs`],
    ['Your account', `${stack.baseUrl}/account`],
    ['Temporal UI', stack.temporalUiUrl],
    ...(stack.mailUrl ? [['Mailbox', stack.mailUrl]] : []),
    ...(stack.paymentsUrl
      ? [['Payments', `${stack.paymentsUrl} (simulated: any key like rk_test_0123456789 works)`]]
      : []),
    ...(stack.registrarUrl
      ? [['Registrar', `${stack.registrarUrl} (simulated: see “Your own domain” in docs/tour.md)`]]
      : []),
    ['Token', owner.access_token],
    ['Logs', join(relative(process.cwd(), stack.dataDir), 'logs')],
  ];
  const lines = rows.map(([label, value]) => `  ${(label ?? '').padEnd(12)} ${value}`);
  const { missingForDomains: missing } = stack;
  const lacks = missing.length > 0 ? [`To try all features of custom domains, install ${missing.join(', ')}.`, ''] : [];
  const commands = (await commandsToTry(stack, owner, demo)).map((command) => `  ${command}`);
  return ['', ...lines, '', 'Try next:', ...commands, '', ...lacks, 'Ctrl+C stops everything.'].join('\n');
}

async function commandsToTry(stack: Stack, owner: Owner, demo: Demo | undefined): Promise<string[]> {
  const bearer = `-H 'authorization: Bearer ${owner.access_token}'`;
  const list = `curl -s ${bearer} ${stack.baseUrl}/v1/sites`;
  if (!demo) return [list];
  const { body } = await callApi(stack.baseUrl, `/v1/sites/${demo.id}/git-credentials`, {
    token: owner.access_token,
    body: { repository: 'source', access: 'write', expires_in_seconds: 86_400 },
  });
  const clone = new URL(body.url);
  clone.username = body.username;
  clone.password = body.password;
  const publish = `curl -s ${bearer} --json '{"scope":"site"}' ${stack.baseUrl}/v1/sites/${demo.id}/publish`;
  return [list, `git clone ${clone.href} workshop`, publish];
}
