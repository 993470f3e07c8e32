/** The summary after a start: addresses, token, commands to try; and the same for programs. */
import { join, relative } from 'node:path';
import type { BuildSandbox } from './build-sandbox.ts';
import { callApi } from './client.ts';
import { writePrivate } from './data-folder.ts';
import { type Demo, ownersEmail } from './demo.ts';
import type { Owner } from './owner.ts';
import { installCommand, isInstalled } from './packages.ts';
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
  writePrivate(join(stack.dataDir, 'env'), settings.map(([name, value = '']) => `${name}=${quoted(value)}\n`).join(''));
}

/** As `node --env-file` reads it: it has no escapes, except a line break's in double quotation marks. */
function quoted(value: string): string {
  const mark = ["'", '`', '"'].find((one) => !value.includes(one)) ?? '"';
  return `${mark}${value}${mark}`;
}

export type Summary = {
  stack: Stack;
  owner: Owner;
  demo: Demo | undefined;
  sandbox: BuildSandbox['kind'];
  /** The demo site’s repository with a git password; undefined without a demo. */
  cloneUrl: string | undefined;
};

/** The text to print when everything runs. It offers only what works on this machine. */
export function describe(summary: Summary): string {
  const { stack, owner, demo, sandbox } = summary;
  const rows = [
    ...(demo?.live_deployment_id ? [['Demo site', demo.address]] : []),
    ['API', stack.baseUrl],
    ['API docs', `${stack.baseUrl}/docs`],
    ['Your account', `${stack.baseUrl}/account (sign in as ${ownersEmail})`],
    ['Temporal UI', stack.temporalUiUrl],
    ...(stack.mailUrl
      ? [['Mailbox', `${stack.mailUrl} (all e-mails, also your sign-in links; none leaves this machine)`]]
      : []),
    ...(stack.paymentsUrl
      ? [['Payments', `${stack.paymentsUrl} (a simulated API, without pages: any key like rk_test_0123456789 works)`]]
      : []),
    ...(stack.registrarUrl
      ? [['Registrar', `${stack.registrarUrl} (a simulated API, without pages: see “Your own domain” in docs/tour.md)`]]
      : []),
    ['Token', owner.access_token],
    ['Builds', sandbox === 'unprotected' ? 'without a sandbox' : (sandbox ?? 'none')],
    ['Logs', join(relative(process.cwd(), stack.dataDir), 'logs')],
  ];
  const lines = rows.map(([label, value]) => `  ${(label ?? '').padEnd(12)} ${value}`);
  const { missingForDomains: missing } = stack;
  const lacks = missing.length > 0 ? [`To try all features of custom domains: ${installCommand(missing)}`, ''] : [];
  const commands = commandsToTry(summary).map((command) => `  ${command}`);
  return ['', ...lines, '', 'Try next:', ...commands, '', ...lacks, 'Ctrl+C stops everything.'].join('\n');
}

function commandsToTry({ stack, owner, demo, sandbox, cloneUrl }: Summary): string[] {
  const call = isInstalled('curl') ? curl(stack, owner) : client(stack, owner);
  return [
    call.list,
    ...(cloneUrl ? [`git clone ${cloneUrl} workshop`] : []),
    ...(demo?.live_deployment_id && sandbox ? [call.publish(demo.id)] : []),
  ];
}

/** With options that every version of curl has. */
function curl({ baseUrl }: Stack, { access_token }: Owner) {
  const start = `curl -s -H 'authorization: Bearer ${access_token}'`;
  const json = `-H 'content-type: application/json' -d '{"scope":"site"}'`;
  return {
    list: `${start} ${baseUrl}/v1/sites`,
    publish: (id: string) => `${start} ${json} ${baseUrl}/v1/sites/${id}/publish`,
  };
}

function client({ baseUrl }: Stack, { access_token }: Owner) {
  const start = `FRONTAGE_URL=${baseUrl} FRONTAGE_TOKEN=${access_token} node skill/bin/frontage.mjs`;
  return { list: `${start} site list`, publish: (id: string) => `${start} publish ${id}` };
}

/** Issues a git password for the demo site, valid for a day. */
export async function demoCloneUrl(stack: Stack, owner: Owner, demo: Demo): Promise<string> {
  const { body } = await callApi(stack.baseUrl, `/v1/sites/${demo.id}/git-credentials`, {
    token: owner.access_token,
    body: { repository: 'source', access: 'write', expires_in_seconds: 86_400 },
  });
  const clone = new URL(body.url);
  clone.username = body.username;
  clone.password = body.password;
  return clone.href;
}
