/** API operations as commands, called with arguments and options. */
import { existsSync, readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { allItems, bodyOf, call, deploymentOf, siteOf } from './call.js';
import { formatOf, save } from './downloads.js';
import { argumentsOf, flagOf, requiredOf, takesLive, usageOf } from './help.js';
import { usage } from './server.js';

/** @typedef {import('./server.js').Server} Server */
/** @typedef {import('./server.js').Options} Options */
/** @typedef {import('./description.js').Operation} Operation */

/** @param {string} file */
function readValueFile(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw usage(`${file} cannot be read.`);
  }
}

/** @param {any} schema */
const typesOf = (schema = {}) =>
  [schema.type, ...(schema.anyOf ?? schema.oneOf ?? []).map((/** @type {any} */ { type }) => type)].flat();

/** The types of JSON schema in an error message. @type {Record<string, string>} */
const typeNames = {
  array: 'an array, such as […]',
  object: 'an object, such as {…}',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

/**
 * The value of a flag, in the type of its schema. `@file` and `-` read a file or standard input; structures are JSON.
 * @param {string} flag
 * @param {string | true} written
 * @param {any} schema
 * @param {string} use
 */
async function readValue(flag, written, schema, use) {
  const types = typesOf(schema);
  if (written === true) {
    if (types.includes('boolean')) return true;
    throw usage(`--${flag} needs a value.`, use);
  }
  const text =
    written === '-' ? await readAll(process.stdin) : /^@./.test(written) ? readValueFile(written.slice(1)) : written;
  if (types.includes('string') && !(types.includes('null') && text === 'null')) return text;
  try {
    return JSON.parse(text);
  } catch {
    if (types[0] === undefined) return text;
    const expected = types.map((type) => typeNames[type] ?? type).join(' or ');
    throw usage(`--${flag} is not valid JSON: it must be ${expected}.`, use);
  }
}

/** Media types of archives, by the ends of their names. @type {[RegExp, string][]} */
const archiveTypes = [
  [/\.zip$/i, 'application/zip'],
  [/\.t?gz$/i, 'application/gzip'],
  [/\.tar$/i, 'application/x-tar'],
];

/**
 * The content-type of a file, if the operation takes certain ones.
 * @param {Operation} operation
 * @param {string} file
 * @returns {Record<string, string>}
 */
function typeOf({ fileTypes }, file) {
  const found = archiveTypes.find(([name, type]) => fileTypes.includes(type) && name.test(file));
  return found ? { 'content-type': found[1] } : {};
}

/**
 * Calls an operation. Returns the parsed body, the stream of a file, or the name of the file that `--to` named.
 * @param {Server} server
 * @param {Operation} operation
 * @param {string[]} words
 * @param {Options} options
 */
export async function runOperation(server, operation, words, options) {
  const { query, body: schema, method, takesFile, givesFile } = operation;
  requireWords(operation, words);
  const { search, body: given } = await readFlags(operation, options);
  const sent = operation.preset ? { ...given, ...operation.preset, thread_id: words.at(-1) } : given;
  const missing = requiredOf(operation).filter((name) => sent[name] === undefined && !search.has(name));
  if (missing.length > 0)
    throw usage(`The command also needs ${missing.map(asFlag).join(' and ')}.`, helpCommand(operation));
  const body = await withSiteIds(server, sent);
  const named = await pathOf(server, operation, words);
  // The skill can be read without a token.
  const path = server.token ? named : named.replace(/^\/v1\/skill(\/|$)/, '/skill/');
  const waits = query.some(({ name }) => name === 'wait');
  if (waits && options.wait !== undefined) search.set('wait', options.wait);
  const { file } = options.flags;
  const to = givesFile ? options.flags.to : undefined;
  if (to === true) throw usage('--to needs a value.', helpCommand(operation));
  const formats = query.find(({ name }) => name === 'format')?.schema?.enum ?? [];
  if (to && !search.has('format') && formats.includes(formatOf(to))) search.set('format', formatOf(to));
  if (takesFile && !(typeof file === 'string' && existsSync(file)))
    throw usage('--file must name an existing file.', usageOf(operation));
  const response = await call(server, method, `${path}${search.size > 0 ? `?${search}` : ''}`, {
    ...(takesFile ? { file: String(file) } : schema ? { body } : {}),
    headers: {
      ...(takesFile ? typeOf(operation, String(file)) : {}),
      ...(waits || options.wait === undefined
        ? {}
        : { prefer: options.wait === '0' ? 'respond-async' : `wait=${options.wait}` }),
    },
  });
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  // JSON in place of another format says that there is no file yet.
  const isUnfinished = isJson && formats.length > 0 && !formats.includes('json');
  if (to && !isUnfinished) {
    await save(response, to);
    return { saved: to };
  }
  if (!isJson) return { file: response.body };
  return { body: await bodyOf(response) };
}

/**
 * The body with ids in place of the names of sites.
 *
 * @param {Server} server
 * @param {any} body
 */
async function withSiteIds(server, body) {
  const idOf = async (/** @type {unknown} */ one) =>
    typeof one !== 'string' || /^site_/.test(one) ? one : (await siteOf(server, one)).id;
  const ids = { ...body };
  if (ids.site_id !== undefined) ids.site_id = await idOf(ids.site_id);
  if (Array.isArray(ids.scope?.sites))
    ids.scope = { ...ids.scope, sites: await Promise.all(ids.scope.sites.map(idOf)) };
  return ids;
}

/** @param {Operation} operation */
const helpCommand = ({ noun, verb }) => `frontage ${noun} ${verb} --help`;

/** @param {string} name */
const asFlag = (name) => `--${flagOf(name)}`;

/**
 * @param {Operation} operation
 * @param {string[]} words
 */
function requireWords(operation, words) {
  if (words.length !== operation.parts.length)
    throw usage(`The command takes ${argumentsOf(operation).join(' ') || 'no arguments'}.`, usageOf(operation));
}

/**
 * The path with the words filled in. A site may be given by its name, and its live version too.
 * @param {Server} server
 * @param {Operation} operation
 * @param {string[]} words
 */
async function pathOf(server, operation, words) {
  const { parts, path } = operation;
  const isOfSite = path.startsWith('/v1/sites/{') && !/^site_/.test(words[0] ?? '');
  const values = [...words];
  if (isOfSite) values[0] = (await siteOf(server, words[0])).id;
  if (path.startsWith('/b/') && server.token) values[0] = await publicIdOf(server, words[0] ?? '');
  if (takesLive(operation)) values[0] = await deploymentOf(server, words[0]);
  return parts.reduce((filled, part, index) => {
    const value = values[index] ?? '';
    const escaped = part === 'path' ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
    return filled.replace(`{${part}}`, escaped);
  }, path);
}

/**
 * The public id of a site of the account by its id or name. Other sites have only the public id.
 * @param {Server} server
 * @param {string} named
 */
async function publicIdOf(server, named) {
  for await (const { id, name, public_id: publicId } of allItems(server, '/v1/sites'))
    if ([id, name].includes(named)) return publicId;
  return named;
}

/**
 * Query parameters and body fields from the flags.
 * @param {Operation} operation
 * @param {Options} options
 * @returns {Promise<{ search: URLSearchParams, body: any }>}
 */
async function readFlags(operation, options) {
  const { query, body: schema, takesFile, givesFile } = operation;
  const help = helpCommand(operation);
  const search = new URLSearchParams();
  // If the body has a field named `body`, then `--body` is that field.
  const isField = schema?.properties?.body !== undefined;
  const flags = isField && options.body !== undefined ? { ...options.flags, body: options.body } : options.flags;
  const body =
    isField || options.body === undefined ? {} : await readValue('body', options.body, { type: 'object' }, help);
  /** @type {Record<string, [target: any, name: string, schema: any]>} */
  const known = Object.fromEntries(query.map((one) => [flagOf(one.name), [search, one.name, one.schema]]));
  for (const [name, part] of Object.entries(schema?.properties ?? {})) known[flagOf(name)] = [body, name, part];
  for (const [flag, written] of Object.entries(flags)) {
    if ((flag === 'file' && takesFile) || (flag === 'to' && givesFile)) continue;
    // The pages of the skill name fields as the API does: `reply_to`.
    const [target, name = '', part] = Object.hasOwn(known, flagOf(flag)) ? (known[flagOf(flag)] ?? []) : [];
    if (!target) throw usage(`There is no option --${flag}.`, usageOf(operation));
    if (target === body) body[name] = await readValue(flag, written, part, help);
    else {
      const values = typesOf(part).includes('array') ? options.repeated[flag] : undefined;
      for (const one of values ?? [written]) search.append(name, String(one));
    }
  }
  return { search, body };
}
