/**
 * The process of the rest of the DNS, for `npm start` and acceptance tests: the registry of `.test`, the owner's registrar and a resolver. Who posts
 * the answer of a domain (`POST /`) has what it asks of the owner set, as he would do at his registrar; `DELETE /<name>` takes a name out again.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { isWithin } from '#rules/dns/names.ts';
import { type LocalType, startLocalDns } from './dns/server.ts';

type Setup = { type: LocalType; name: string; value: string }[];

const {
  NAMES_DNS_PORT,
  NAMES_WEB_PORT,
  NAMES_ZONES,
  NAMES_UNDER = '',
  NAMES_OWN = '{}',
  NAMES_FILE = '',
} = process.env;
const ours = NAMES_ZONES ? { ours: { address: NAMES_ZONES, under: NAMES_UNDER } } : {};
const dns = await startLocalDns({ ...ours, port: Number(NAMES_DNS_PORT) });
for (const [name, address] of Object.entries(JSON.parse(NAMES_OWN) as Record<string, string>))
  dns.set(name, 'A', address);

/** What was registered, by domain; kept over a restart. */
const registered: Record<string, Setup> = existsSync(NAMES_FILE) ? JSON.parse(readFileSync(NAMES_FILE, 'utf8')) : {};
for (const [domain, setup] of Object.entries(registered)) apply(domain, setup);

/** What was set for names below it stays: those are domains of their own. */
function change(domain: string): void {
  dns.forget(domain);
  for (const [name, setup] of Object.entries(registered)) if (isWithin(name, domain)) apply(name, setup);
}

function apply(domain: string, setup: Setup): void {
  const servers = setup.filter(({ type }) => type === 'NS').map(({ value }) => value);
  if (servers.length > 0) dns.delegate(domain, ...servers);
  const sets = Map.groupBy(
    setup.filter(({ type }) => type !== 'NS'),
    ({ type, name }) => `${type} ${name}`,
  );
  for (const set of sets.values()) if (set[0]) dns.set(set[0].name, set[0].type, ...set.map(({ value }) => value));
}

function save(): void {
  if (NAMES_FILE) writeFileSync(NAMES_FILE, JSON.stringify(registered));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'DELETE') {
    const domain = decodeURIComponent((request.url ?? '/').slice(1));
    delete registered[domain];
    change(domain);
    save();
    return say(response, 200, `${domain} is registered no more.`);
  }
  if (request.method !== 'POST') return say(response, 405, 'POST the answer of a domain here, or DELETE /<its name>.');
  const { domain, setup } = JSON.parse(await text(request)) as { domain?: string; setup?: Setup };
  if (!domain?.endsWith('.test') || !setup) return say(response, 400, 'That is no answer of a domain below .test.');
  registered[domain] = setup.map(({ type, name, value }) => ({ type, name, value }));
  change(domain);
  save();
  say(
    response,
    200,
    `Set for ${domain}:\n${setup.map(({ type, name, value }) => `  ${type} ${name} ${value}`).join('\n')}`,
  );
}

function say(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${words}\n`);
}

const web = createServer((request, response) => {
  answer(request, response).catch(() => say(response, 400, 'That cannot be read.'));
});
await new Promise<void>((resolve) => web.listen(Number(NAMES_WEB_PORT), '127.0.0.1', resolve));
process.send?.({ ready: true });

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    web.close();
    web.closeAllConnections();
    void dns.close().then(() => process.exit(0));
  });
}
