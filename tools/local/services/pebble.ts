/** Pebble, an ACME test authority, if it is installed. No browser trusts its certificates by default. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:https';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '#tools/local/ports.ts';
import { type ProcessId, type Running, startDaemon } from '#tools/local/processes.ts';
import { UserError } from '#tools/local/user-error.ts';
import { waitUntilUp } from './powerdns.ts';
import { executableAt } from './temporal-cli.mjs';

/** The program, if it is installed. */
export function findPebble(): { command: string } | { missing: 'pebble' } {
  const command = executableAt('pebble', [join(homedir(), 'go/bin')]);
  return command ? { command } : { missing: 'pebble' };
}

export type PebbleOptions = {
  dir: string;
  /** The resolver it uses, as `host:port`. */
  resolver: string;
  /** The port of its HTTP challenges. */
  httpPort: number;
  port?: number;
  managementPort?: number;
  /** Validity of its certificates. */
  validForSeconds?: number;
  /** Percentage of nonces that it refuses. */
  refusedNoncePercent?: number;
  /** Percentage of orders that reuse earlier authorizations. */
  reusedAuthorizationPercent?: number;
  logFile?: string;
  onSpawn?: (id: ProcessId) => void;
};

/**
 * `trusts` is a file with the certificate of its own HTTPS servers; `root` is the root of the certificates it issues
 * (PEM).
 */
export type Pebble = Running & { directoryUrl: string; trusts: string; root: string; rootsFile: string };

/** Starts it and returns when it responds. No state survives a restart, not even its root certificate. */
export async function startPebble(options: PebbleOptions): Promise<Pebble> {
  const found = findPebble();
  if ('missing' in found) throw new UserError('Pebble is not installed.');
  const dir = resolve(options.dir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const { port = await freePort(), managementPort = await freePort() } = options;
  const trusts = await writeSettings(dir, { ...options, port, managementPort });
  const logFile = options.logFile ?? join(dir, 'pebble.log');
  const daemon = await startDaemon({
    command: found.command,
    args: ['-config', join(dir, 'pebble.json'), '-dnsserver', options.resolver],
    env: {
      PATH: process.env.PATH,
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: String(options.refusedNoncePercent ?? 0),
      PEBBLE_AUTHZREUSE: String(options.reusedAuthorizationPercent ?? 0),
    },
    logFile,
    stopSignal: 'SIGTERM',
    stopGraceMs: 2_000,
    onSpawn: options.onSpawn,
  });
  const directoryUrl = `https://127.0.0.1:${port}/dir`;
  const ca = await readFile(trusts, 'utf8');
  await waitUntilUp(async () => (await read(directoryUrl, ca)) !== '', daemon, 'Pebble', logFile);
  const root = await read(`https://127.0.0.1:${managementPort}/roots/0`, ca);
  // Certificates of an earlier start stay in the database until they are renewed.
  const rootsFile = join(dir, 'roots.pem');
  await appendFile(rootsFile, root);
  return { ...daemon, directoryUrl, trusts, root, rootsFile };
}

async function writeSettings(
  dir: string,
  options: PebbleOptions & { port: number; managementPort: number },
): Promise<string> {
  const [certificate, privateKey] = [join(dir, 'server.pem'), join(dir, 'server.key')];
  if (!existsSync(certificate)) {
    // Imported only when needed: it is slow to load.
    const { makeSelfSigned } = await import('./self-signed.ts');
    const made = await makeSelfSigned('127.0.0.1');
    await writeFile(privateKey, made.key, { mode: 0o600 });
    await writeFile(certificate, made.certificate);
  }
  const pebble = {
    listenAddress: `127.0.0.1:${options.port}`,
    managementListenAddress: `127.0.0.1:${options.managementPort}`,
    certificate,
    privateKey,
    httpPort: options.httpPort,
    tlsPort: options.httpPort,
    certificateValidityPeriod: options.validForSeconds ?? 90 * 86_400,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  };
  await writeFile(join(dir, 'pebble.json'), JSON.stringify({ pebble }));
  return certificate;
}

/** The text at the address; empty if the status is not 200. Pebble requires a User-Agent. */
function read(url: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { agent: new Agent({ ca }), headers: { 'user-agent': 'frontage' } }, (answer) => {
      text(answer).then((body) => resolve(answer.statusCode === 200 ? body : ''), reject);
    });
    asked.on('error', reject);
  });
}
