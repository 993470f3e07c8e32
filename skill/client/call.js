/** Requests to the API: retries, limits and errors. */
import { randomUUID } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { plain } from './output.js';
import { emailPlaceholder, exits, Stop, usage, version } from './server.js';

/** @typedef {import('./server.js').Server} Server */
/** @typedef {{ body?: unknown, file?: string, headers?: Record<string, string>, gapMs?: number }} Request */

export const responseBytesMax = 64 * 1024 * 1024;
const headersWithinMs = 120_000;
/** Longer than a network gap or the restart of a server, for requests that follow a build. */
export const gapMsMax = 90_000;

/** @param {number} ms */
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/**
 * Sends a request. Retries if the response allows it and the wait is short; the idempotency key makes a repeated POST safe. With `gapMs` it also
 * retries for that long while the server is unreachable.
 * @param {Server} server
 * @param {string} method
 * @param {string} path
 * @param {Request} [request]
 * @returns {Promise<Response>}
 */
export async function call(server, method, path, { body, file, headers = {}, gapMs = 0 } = {}) {
  const { baseUrl } = server;
  const sent = { ...headersOf(server, method, { body, file }), ...headers };
  const retryUntil = Date.now() + gapMs;
  /** @param {number} attempt */
  const mayRetry = (attempt) => attempt < 4 || Date.now() < retryUntil;
  for (let attempt = 1; ; attempt += 1) {
    const { response, isLate } = await send(`${baseUrl}${path}`, { method, headers: sent, body, file });
    if (response instanceof Error) {
      if (isLate || !mayRetry(attempt))
        throw new Stop(exits.refused, `${baseUrl} did not respond: ${plain(causeOf(response))}.`);
      await pause(Math.min(2000, 200 * 2 ** attempt));
      continue;
    }
    if (response.ok) return response;
    const refused = await bodyOf(response).catch(() => ({}));
    // A proxy in front of a restarting server responds in its own format.
    const isAway = refused?.error === undefined && [502, 503, 504].includes(response.status) && gapMs > 0;
    const waitSeconds = Number(response.headers.get('retry-after') ?? Math.min(attempt, 3));
    if ((isAway || refused?.error?.retryable) && mayRetry(attempt) && waitSeconds <= 20) {
      await pause(Math.max(0, waitSeconds) * 1000);
      continue;
    }
    throw stopFor(response.status, refused, server, response.headers.get('x-request-id'));
  }
}

/**
 * @param {Server} server
 * @param {string} method
 * @param {Pick<Request, 'body' | 'file'>} content
 * @returns {Record<string, string>}
 */
function headersOf({ token }, method, { body, file }) {
  return {
    'user-agent': `frontage-client/${version} node/${process.versions.node}`,
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(file === undefined
      ? {}
      : { 'content-type': 'application/octet-stream', 'content-length': String(statSync(file).size) }),
    ...(method === 'POST' && token ? { 'idempotency-key': randomUUID() } : {}),
  };
}

/** @param {any} error */
const causeOf = (error) => error.cause?.code ?? error.message;

/**
 * Sends a request once. The response must begin within two minutes.
 * @param {string} url
 * @param {{ method: string, headers: Record<string, string>, body: unknown, file: string | undefined }} request
 */
async function send(url, { method, headers, body, file }) {
  const timeout = new AbortController();
  const timer = file === undefined ? setTimeout(() => timeout.abort(), headersWithinMs) : undefined;
  /** @type {any} */
  const init = {
    method,
    headers,
    body: file === undefined ? body && JSON.stringify(body) : createReadStream(file),
    // The request, above all its token, must not go to another server.
    redirect: 'manual',
    signal: timeout.signal,
    ...(file ? { duplex: 'half' } : {}),
  };
  const response = await fetch(url, init).catch((/** @type {Error} */ error) => error);
  clearTimeout(timer);
  return { response, isLate: timeout.signal.aborted };
}

/**
 * The bytes of a response, at most 64 MiB.
 * @param {Response} response
 */
export async function bytesOf(response) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > responseBytesMax) throw new Stop(exits.refused, 'The server’s response is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * @param {Response} response
 * @returns {Promise<any>}
 */
export async function bodyOf(response) {
  const bytes = await bytesOf(response);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Stop(exits.refused, 'The response is not from a Frontage server.');
  }
}

/** Errors that only a person can resolve. */
const personalCodes = ['unauthorized', 'owner_only', 'out_of_scope', 'access_denied', 'confirm_required'];

/**
 * @param {number} status
 * @param {any} body
 * @param {Server} [server] The server that the request was sent to.
 * @param {string | null} [requestId]
 */
export function stopFor(status, body, server, requestId) {
  const { code, message, next_action, detail } = body?.error ?? {};
  if (typeof code !== 'string')
    return new Stop(
      exits.refused,
      `The server responded with status ${status}, but the response is not from Frontage.`,
    );
  const next = code === 'unauthorized' ? `frontage login --email ${emailPlaceholder}` : next_action;
  const log = typeof detail === 'string' ? `${detail.trimEnd()}\n` : '';
  const exit = personalCodes.includes(code) ? exits.person : exits.refused;
  const text =
    code === 'unauthorized' && server && !server.token
      ? `You are not signed in to ${server.baseUrl}.`
      : `${log}${message} (${code})`;
  return new Stop(exit, text, { next, body, requestId: /^[\w-]{8,64}$/.exec(requestId ?? '')?.[0] });
}

/**
 * Sends a request and parses the response.
 * @param {Parameters<typeof call>} args
 * @returns {Promise<any>}
 */
export const json = async (...args) => await bodyOf(await call(...args));

/**
 * All items of a list.
 * @param {Server} server
 * @param {string} path
 * @param {string} [filter]
 */
export async function* allItems(server, path, filter = '') {
  for (let cursor = ''; cursor !== null; ) {
    const after = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page = await json(server, 'GET', `${path}?limit=200${filter}${after}`);
    yield* page.items;
    cursor = page.next_cursor;
  }
}

/**
 * A site by its id, name or address. The list of sites leaves out those under deletion, which can be restored.
 * @param {Server} server
 * @param {string | undefined} named
 */
export async function siteOf(server, named) {
  if (!named) throw usage('Specify a site by its id, name or address.', 'frontage site list');
  if (/^site_/.test(named)) return json(server, 'GET', `/v1/sites/${encodeURIComponent(named)}`);
  for (const filter of ['', '&status=deleting']) {
    for await (const site of allItems(server, '/v1/sites', filter)) {
      if ([site.name, site.address, site.address?.replace(/^https?:\/\//, '')].includes(named)) return site;
    }
  }
  throw new Stop(exits.refused, `You have no site called ${plain(named)}.`, {
    next: 'frontage site list',
    code: 'not_found',
  });
}

/**
 * The id of a version: itself, or that of the live version of a site.
 * @param {Server} server
 * @param {string | undefined} named
 * @returns {Promise<string>}
 */
export async function deploymentOf(server, named) {
  // The server says what an id of another kind is.
  if (named && /^(?!site_)[a-z]+_/.test(named)) return named;
  const { live_deployment_id: id, name } = await siteOf(server, named);
  if (id) return id;
  throw new Stop(exits.refused, `${plain(name)} is not live yet.`, { next: `frontage deployment list ${plain(name)}` });
}
