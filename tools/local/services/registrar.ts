/**
 * The process of the local DNS, for `npm start` and acceptance tests: the registry of `.test`, the owner's registrar
 * and a resolver. `POST /` with the API's response for a domain sets the records in its `setup`, as an owner would at
 * their registrar. `DELETE /<name>` deletes a name.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { isWithin } from '#rules/dns/names.ts';
import { type LocalType, startLocalDns } from '#tools/local/dns/server.ts';

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

/** Registered records by domain; they survive a restart. */
const registered: Record<string, Setup> = existsSync(NAMES_FILE) ? JSON.parse(readFileSync(NAMES_FILE, 'utf8')) : {};
for (const [domain, setup] of Object.entries(registered)) apply(domain, setup);

/** Replaces a domain's records. Records of registered names below it stay: those are separate domains. */
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

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'DELETE') {
    const domain = decodeURIComponent((request.url ?? '/').slice(1));
    delete registered[domain];
    change(domain);
    save();
    return send(response, 200, `${domain} is no longer registered.`);
  }
  if (request.method !== 'POST')
    return send(response, 405, 'POST the API’s response for a domain here, or call DELETE /<domain name>.');
  const { domain, setup } = JSON.parse(await text(request)) as { domain?: string; setup?: Setup };
  if (!domain?.endsWith('.test') || !setup)
    return send(response, 400, 'The body is not an API response for a .test domain.');
  registered[domain] = setup.map(({ type, name, value }) => ({ type, name, value }));
  change(domain);
  save();
  send(
    response,
    200,
    `Set for ${domain}:\n${setup.map(({ type, name, value }) => `  ${type} ${name} ${value}`).join('\n')}`,
  );
}

function send(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${words}\n`);
}

const web = createServer((request, response) => {
  handle(request, response).catch(() => send(response, 400, 'The request could not be read.'));
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
