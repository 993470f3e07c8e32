/** The server that a command uses, the stored token, and the way a command stops. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** @typedef {{ baseUrl: string, token?: string | undefined }} Server */
/** @typedef {{ json: boolean, quiet: boolean, help: boolean, version: boolean, url?: string, body?: string, wait?: string, flags: Record<string, string | true>, repeated: Record<string, (string | true)[]> }} Options */

const servedFrom = '{base_url}';
const configFile = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'frontage', 'config.json');

export const exits = { done: 0, refused: 1, usage: 2, unfinished: 3, person: 4 };
/** The address in a suggested `login`. */
export const emailPlaceholder = '<your e-mail address>';
/** The path of this client. */
export const client = realpathSync(process.argv[1] ?? '');
/** @param {string | Uint8Array} bytes */
export const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex');
export const ownHash = hashOf(readFileSync(client));
export const version = ownHash.slice(0, 12);

/** Ends the command with a message, the next step and, for `--json`, an error body. */
export class Stop extends Error {
  /**
   * @param {number} exit
   * @param {string} message
   * @param {{ next?: string, body?: any, code?: string, requestId?: string | undefined }} [details]
   */
  constructor(exit, message, { next, body, code, requestId } = {}) {
    super(message);
    this.exit = exit;
    this.next = next;
    this.requestId = requestId;
    const ownCode = code ?? (exit === exits.usage ? 'usage' : 'unreachable');
    const error = { code: ownCode, message, retryable: false, ...(next ? { next_action: next } : {}) };
    this.body = body ?? { error };
  }
}

/** @param {string} message */
export const usage = (message, next = 'frontage --help') => new Stop(exits.usage, message, { next });

/** @returns {{ servers: Record<string, { token?: string, request?: any }>, current: Record<string, string> }} */
export function readConfig() {
  try {
    const { servers, current } = JSON.parse(readFileSync(configFile, 'utf8'));
    return { servers: { ...servers }, current: { ...current } };
  } catch {
    return { servers: {}, current: {} };
  }
}

/** The address that served this copy. The configuration has one current server for each. */
const origin = servedFrom.startsWith('http') ? servedFrom : '';

/**
 * @param {string} baseUrl
 * @param {{ token?: string | undefined, request?: any }} change
 */
export function changeServer(baseUrl, change) {
  const config = readConfig();
  const servers = { ...config.servers, [baseUrl]: { ...config.servers[baseUrl], ...change } };
  const current = { ...config.current, [origin]: baseUrl };
  mkdirSync(dirname(configFile), { recursive: true, mode: 0o700 });
  // Written to a temporary file first: a reader never sees half of it, and other users never can read it.
  const written = `${configFile}.${randomUUID()}`;
  writeFileSync(written, `${JSON.stringify({ current, servers }, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(written, configFile);
}

/**
 * @param {Options} options
 * @returns {Server}
 */
export function serverOf(options) {
  const config = readConfig();
  const usual = process.env.FRONTAGE_URL || config.current[origin] || origin;
  const baseUrl = originOf(options.url ?? usual);
  // The environment's token belongs to the usual server. It is not sent to another one in --url.
  const given = !usual || originOf(usual) === baseUrl ? process.env.FRONTAGE_TOKEN : undefined;
  return { baseUrl, token: given || config.servers[baseUrl]?.token };
}

/** @param {string | undefined} address */
function originOf(address) {
  if (!address)
    throw usage('The server’s address is missing.', `frontage login --url https://… --email ${emailPlaceholder}`);
  if (!URL.canParse(address) || !/^https?:/.test(address))
    throw usage(`${address} is not a web address such as https://example.com.`);
  return new URL(address).origin;
}
