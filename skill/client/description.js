/** The operations of the API, read from its OpenAPI description, which is cached. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { json } from './call.js';
import { hashOf } from './server.js';

/** @typedef {import('./server.js').Server} Server */
/**
 * @typedef {{
 *   noun: string, verb: string, method: string, path: string, summary: string, description?: string, parts: string[],
 *   query: any[], givesFile: boolean, body: any, resolveRef: (schema: any) => any, takesFile: boolean, fileTypes: string[], preset?: any,
 * }} Operation
 */

const cacheDir = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'frontage');
const descriptionCachedMs = 10 * 60_000;

/** @param {Server} server */
async function readDescription({ baseUrl }) {
  const cached = join(cacheDir, `${hashOf(baseUrl).slice(0, 16)}.json`);
  if (existsSync(cached) && Date.now() - statSync(cached).mtimeMs < descriptionCachedMs) {
    try {
      return JSON.parse(readFileSync(cached, 'utf8'));
    } catch {} // A corrupt cache is written again.
  }
  const description = await json({ baseUrl }, 'GET', '/openapi.json');
  try {
    mkdirSync(cacheDir, { recursive: true });
    const written = `${cached}.${randomUUID()}`;
    writeFileSync(written, JSON.stringify(description));
    renameSync(written, cached);
  } catch {} // The cache is optional.
  return description;
}

/** @param {{ name: string }} parameter */
const nameIsTo = ({ name }) => name === 'to';

/**
 * @param {Server} server
 * @returns {Promise<Operation[]>}
 */
export async function operationsOf(server) {
  const { paths = {}, components } = await readDescription(server);
  /** @param {any} schema */
  const resolveRef = (schema) => (schema?.$ref ? components?.schemas?.[schema.$ref.split('/').at(-1)] : schema);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const content = operation.requestBody?.content ?? {};
      // Only plain words: shell completion prints them.
      const [, noun, verb] = /^([a-z][a-z_]*)\.([a-z][a-z_]*)$/.exec(operation.operationId) ?? [];
      if (!noun || !verb) return [];
      const query = (operation.parameters ?? []).filter((/** @type {any} */ one) => one.in === 'query');
      const types = method === 'get' ? Object.keys(operation.responses?.['200']?.content ?? {}) : [];
      return {
        noun: noun.replaceAll('_', '-'),
        verb: verb.replaceAll('_', '-'),
        method: method.toUpperCase(),
        path,
        summary: operation.summary,
        description: operation.description,
        parts: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
        query,
        // Unless it has another --to.
        givesFile: types.some((type) => type !== 'application/json') && !query.some(nameIsTo),
        body: content['application/json'] && resolveRef(content['application/json'].schema ?? {}),
        resolveRef,
        takesFile: Object.keys(content).length > 0 && !content['application/json'],
        fileTypes: Object.keys(content),
      };
    }),
  );
  return operations.flatMap((one) => (one.noun === 'comment' && one.verb === 'write' ? [one, ...endings(one)] : [one]));
}

/**
 * `comment resolve` and `comment reopen`, which are one operation of the API.
 * @param {Operation} write
 * @returns {Operation[]}
 */
const endings = (write) =>
  [
    { verb: 'resolve', summary: 'Resolve a comment thread' },
    { verb: 'reopen', summary: 'Reopen a comment thread' },
  ].map(({ verb, summary }) => ({
    ...write,
    verb,
    summary,
    description: undefined,
    parts: [...write.parts, 'thread_id'],
    body: { ...write.body, properties: { note: write.body?.properties?.note }, required: [] },
    preset: { action: verb },
  }));

/**
 * The verbs of each noun.
 * @param {Operation[]} operations
 */
export function verbsOf(operations) {
  /** @type {Map<string, string[]>} */
  const verbs = new Map();
  for (const { noun, verb } of operations) verbs.set(noun, [...(verbs.get(noun) ?? []), verb]);
  return verbs;
}
