/**
 * Records what a test run sees of the product, for `unseen.ts`: responses of the API that went over a socket, mails that a server
 * accepted, the edge's own pages. Every process of a whole run preloads it (tools/scripts/test.ts). It listens to the diagnostics channels
 * of Fastify, pino and Node, so the product does not know of it.
 */
import { subscribe, tracingChannel } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';

/** Of the run. Processes inherit it with NODE_OPTIONS. */
const folder = new URL(import.meta.url).searchParams.get('folder');
const noted = new Set();

/** Appends at first sight, and at once: the process may be killed. */
function note(item) {
  if (noted.has(item)) return;
  noted.add(item);
  appendFileSync(`${folder}/${process.pid}`, `${item}\n`);
}

/** Not from the process itself: the tools of /mcp inject their calls. */
const isFromOutside = (request) => request.raw.socket?.server !== undefined;

function recordApi({ fastify }) {
  fastify.addHook('onResponse', (request, reply, done) => {
    const { url } = request.routeOptions;
    const outcome = reply.raw.statusCode < 400 ? 'success' : 'refusal';
    if (url !== undefined && isFromOutside(request)) note(`${request.method} ${url}: ${outcome}`);
    done();
  });
  fastify.addHook('onSend', (request, _reply, payload, done) => {
    if (typeof payload === 'string' && isFromOutside(request)) noteBody(request, payload);
    done();
  });
}

/** The code of the error, also of a failed deployment, and whether a resource names the next step. */
function noteBody({ method, routeOptions: { url } }, body) {
  for (const [, code] of body.matchAll(/"error":\{"code":"(\w+)"/g)) note(`error code: ${code}`);
  if (body.includes('"next_action":"') && !body.startsWith('{"error":')) note(`${method} ${url}: next_action`);
  if (url !== '/v1/inbox') return;
  for (const [, kind] of body.matchAll(/"kind":"(\w+)"/g)) note(`inbox item: ${kind}`);
}

/** The worker logs this when a mail server has accepted it. */
function noteMail({ arguments: [fields, message] }) {
  if (message === 'an e-mail was sent') note(`mail: ${fields.kind}`);
}

/** By its head, which no site's page has. */
function noteEdgePage(status, headers) {
  if (headers['x-robots-tag'] !== 'noindex' || headers['cache-control'] !== 'no-store') return;
  note(`edge page: ${status} ${headers['content-type']} ${headers['content-length']}`);
}

subscribe('fastify.initialization', recordApi);
subscribe('http.client.response.finish', ({ response }) => noteEdgePage(response.statusCode, response.headers));
subscribe('http2.client.stream.finish', ({ headers }) => noteEdgePage(headers[':status'], headers));
tracingChannel('pino_asJson').start.subscribe(noteMail);
