/** Follows a build: shows its log until the deployment is settled. */
import { call, gapMsMax, json, pause, responseBytesMax, stopFor } from './call.js';
import { isTerminal, log, plain, show } from './output.js';
import { exits, Stop } from './server.js';

/** @typedef {import('./server.js').Server} Server */

/** A followed log sends something every 15 s. */
const silenceMsMax = 45_000;
/** Clears the line with the elapsed seconds. */
const clearLine = isTerminal ? '\r\u001b[K' : '';

/**
 * Shows the log of a build while it grows, across network gaps. Returns the settled deployment.
 * @param {Server} server
 * @param {{ id: string, status: string }} deployment
 * @param {boolean} quiet
 * @returns {Promise<any>}
 */
export async function follow(server, deployment, quiet) {
  const { id, status } = deployment;
  if (!['queued', 'building', 'storing'].includes(status)) return deployment;
  const startedAt = Date.now();
  const seconds = () => `\r… ${Math.round((Date.now() - startedAt) / 1000)} s `;
  const progress = setInterval(() => isTerminal && !quiet && process.stderr.write(seconds()), 1000);
  try {
    /** @type {string | undefined} */
    let last;
    for (;;) {
      const stream = await call(server, 'GET', `/v1/deployments/${id}/log`, {
        headers: { accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) },
        gapMs: gapMsMax,
      });
      for await (const event of eventsOf(stream)) {
        last = event.id ?? last;
        if (event.type === 'log' && !quiet)
          process.stderr.write(`${clearLine}${event.data.split('\n').map(plain).join('\n')}`);
        if (event.type === 'end') return await json(server, 'GET', `/v1/deployments/${id}`, { gapMs: gapMsMax });
      }
      await pause(500);
    }
  } catch (stop) {
    // The build continues on the server.
    if (stop instanceof Stop) stop.next ??= `frontage deployment read ${plain(id)}`;
    throw stop;
  } finally {
    clearInterval(progress);
    if (!quiet) process.stderr.write(clearLine);
  }
}

/**
 * Server-sent events (HTML standard, section 9.2). They end when the connection breaks or is silent for too long.
 * @param {Response} response
 */
async function* eventsOf(response) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let pending = ''; ; ) {
      const { value, done } = await withTimeout(reader.read());
      if (done) return;
      pending += value;
      if (pending.length > responseBytesMax) throw new Stop(exits.refused, 'A line of the build log is too long.');
      const blocks = pending.split('\n\n');
      pending = blocks.pop() ?? '';
      for (const block of blocks) yield parseEvent(block);
    }
  } catch (error) {
    if (error instanceof Stop) throw error; // After any other error the caller resumes from the last id.
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** @param {string} block */
function parseEvent(block) {
  /** @param {string} name */
  const field = (name) =>
    block
      .split('\n')
      .filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2));
  return { type: field('event')[0], id: field('id')[0], data: field('data').join('\n') };
}

/**
 * A read, or the end of the stream after a long silence: a connection can be lost without notice.
 * @param {Promise<{ value?: string | undefined, done: boolean }>} read
 */
async function withTimeout(read) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<{ value?: string | undefined, done: boolean }>} */
  const silence = new Promise((done) => {
    timer = setTimeout(done, silenceMsMax, { done: true });
  });
  return await Promise.race([read, silence]).finally(() => clearTimeout(timer));
}

/**
 * @param {{ number: number }} deployment
 * @param {{ address: string }} site
 */
export const logLive = ({ number }, { address }) => log(`✓ Version ${number} is live: ${plain(address)}`);

/**
 * Prints a settled deployment and returns the exit code. Throws for a failed one.
 * @param {any} deployment
 * @param {{ asJson: boolean, quiet: boolean }} options
 */
export function finishBuild(deployment, { asJson, quiet }) {
  if (deployment.error) {
    // The terminal has shown the log already, unless it had to be quiet; the JSON body repeats it.
    const { detail, ...error } = deployment.error;
    throw Object.assign(stopFor(422, { error: quiet ? { ...error, detail } : error }), {
      body: { error: { ...error, detail } },
    });
  }
  const { id, status, warnings, next_action } = deployment;
  const exit = show(asJson ? deployment : { id, status, warnings, next_action }, { json: asJson });
  if (['live', 'retired', 'ready'].includes(status)) return exits.done;
  return ['superseded', 'cancelled'].includes(status) ? exits.refused : exit;
}
