#!/usr/bin/env node
/**
 * The terminal client of Frontage: one file, no dependencies, Node 20 or newer. What it can do, it reads from the API's own description: each
 * operation `site.publish` is the command `frontage site publish`. Besides those there are a few commands that do more than one call.
 *
 * Exit codes: 0 done, 1 refused, 2 used wrongly, 3 not finished yet, 4 a person has to act.
 *
 * Its version is the beginning of the hash of this file: `--version` prints it, and says whether the server serves another one.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { text as readAll } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

const servedFrom = '{base_url}';
const exits = { done: 0, refused: 1, usage: 2, unfinished: 3, person: 4 };
const configFile = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'frontage', 'config.json');
const cacheDir = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'frontage');
const descriptionKeptMs = 10 * 60_000;
const answerBytesMax = 64 * 1024 * 1024;
const headersWithinMs = 120_000;
/** What is followed lasts longer than a gap in the network, or the restart of a server. */
const gapMsMax = 90_000;
/** A log that is followed says something every 15 s. */
const silenceMsMax = 45_000;
const client = fileURLToPath(import.meta.url);
const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex');
const ownHash = hashOf(readFileSync(client));
const version = ownHash.slice(0, 12);

/** Ends the command, with words for whoever reads the terminal. */
class Stop extends Error {
  constructor(exit, message, { next, body, code } = {}) {
    super(message);
    const own = code ?? (exit === exits.usage ? 'usage' : 'unreachable');
    const error = { code: own, message, retryable: false, ...(next ? { next_action: next } : {}) };
    Object.assign(this, { exit, next, body: body ?? { error } });
  }
}
const usage = (message, next = 'frontage --help') => new Stop(exits.usage, message, { next });

// ─── Where, and as whom ────────────────────────────────────────────────────────────────────────────────────────────────────

function readConfig() {
  try {
    const { servers, current } = JSON.parse(readFileSync(configFile, 'utf8'));
    return { servers: { ...servers }, current: { ...current } };
  } catch {
    return { servers: {}, current: {} };
  }
}

/** Where this copy of the client was served from; `current` of the configuration is kept for each. */
const own = servedFrom.startsWith('http') ? servedFrom : '';

function changeServer(baseUrl, change) {
  const config = readConfig();
  const servers = { ...config.servers, [baseUrl]: { ...config.servers[baseUrl], ...change } };
  const current = { ...config.current, [own]: baseUrl };
  mkdirSync(dirname(configFile), { recursive: true, mode: 0o700 });
  // Under a name of its own first: nobody reads half of it, and at no moment can others read it.
  const written = `${configFile}.${randomUUID()}`;
  writeFileSync(written, `${JSON.stringify({ current, servers }, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(written, configFile);
}

function whereTo(options) {
  const config = readConfig();
  const usual = process.env.FRONTAGE_URL || config.current[own] || own;
  const baseUrl = originOf(options.url ?? usual);
  // A token of the environment is of the usual server. It does not go wherever --url leads.
  const given = !usual || originOf(usual) === baseUrl ? process.env.FRONTAGE_TOKEN : undefined;
  return { baseUrl, token: given || config.servers[baseUrl]?.token };
}

function originOf(named) {
  if (!named)
    throw usage('No address of a Frontage is known.', 'frontage login --url https://… --email owner@example.com');
  if (!URL.canParse(named) || !/^https?:/.test(named))
    throw usage(`${named} is no address, as https://example.com is.`);
  return new URL(named).origin;
}

// ─── Calls ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/**
 * One call, tried again where the answer says that this helps and the wait is short. A repeated POST makes nothing twice. With `gapMs` it is also
 * tried again for so long as nothing of a Frontage answers.
 */
async function call(server, method, path, { body, file, headers = {}, gapMs = 0 } = {}) {
  const { baseUrl, token } = server;
  const sent = {
    'user-agent': `frontage-client/${version} node/${process.versions.node}`,
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(file === undefined
      ? {}
      : { 'content-type': 'application/octet-stream', 'content-length': String(statSync(file).size) }),
    ...(method === 'POST' && token ? { 'idempotency-key': randomUUID() } : {}),
    ...headers,
  };
  const patientUntil = Date.now() + gapMs;
  const isPatient = (attempt) => attempt < 4 || Date.now() < patientUntil;
  for (let attempt = 1; ; attempt += 1) {
    const { answer, isLate } = await ask(`${baseUrl}${path}`, { method, headers: sent, body, file });
    if (answer instanceof Error) {
      if (isLate || !isPatient(attempt))
        throw new Stop(exits.refused, `${baseUrl} does not answer: ${plain(answer.cause?.code ?? answer.message)}.`);
      await pause(Math.min(2000, 200 * 2 ** attempt));
      continue;
    }
    if (answer.ok) return answer;
    const refused = await bodyOf(answer).catch(() => ({}));
    // What stands before a server that restarts speaks for it, in words of its own.
    const isAway = refused?.error === undefined && [502, 503, 504].includes(answer.status) && gapMs > 0;
    const waitSeconds = Number(answer.headers.get('retry-after') ?? Math.min(attempt, 3));
    if ((isAway || refused?.error?.retryable) && isPatient(attempt) && waitSeconds <= 20) {
      await pause(Math.max(0, waitSeconds) * 1000);
      continue;
    }
    throw asStop(answer.status, refused);
  }
}

/** Asks once. An answer that has not begun in two minutes is late. */
async function ask(url, { method, headers, body, file }) {
  const hurry = new AbortController();
  const timer = file === undefined ? setTimeout(() => hurry.abort(), headersWithinMs) : undefined;
  const answer = await fetch(url, {
    method,
    headers,
    body: file === undefined ? body && JSON.stringify(body) : createReadStream(file),
    // What was meant for this server, its token foremost, goes to no other.
    redirect: 'manual',
    signal: hurry.signal,
    ...(file ? { duplex: 'half' } : {}),
  }).catch((error) => error);
  clearTimeout(timer);
  return { answer, isLate: hurry.signal.aborted };
}

/** The bytes of an answer, of at most 64 MiB. */
async function bytesOf(answer) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new Stop(exits.refused, 'The answer is larger than any of a Frontage.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function bodyOf(answer) {
  const bytes = await bytesOf(answer);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Stop(exits.refused, 'The answer is not one of a Frontage.');
  }
}

/** What only a person can do: let the caller in, decide, say yes. */
const forPersons = ['unauthorized', 'owner_only', 'access_denied', 'confirm_required'];

function asStop(status, body) {
  const { code, message, next_action, detail } = body?.error ?? {};
  if (typeof code !== 'string') return new Stop(exits.refused, `The answer was ${status}, and not one of a Frontage.`);
  const next = code === 'unauthorized' ? 'frontage login --email owner@example.com' : next_action;
  const log = typeof detail === 'string' ? `${detail.trimEnd()}\n` : '';
  return new Stop(forPersons.includes(code) ? exits.person : exits.refused, `${log}${message} (${code})`, {
    next,
    body,
  });
}

const json = async (...args) => await bodyOf(await call(...args));

/** All items of a list. */
async function* every(server, path) {
  for (let cursor = ''; cursor !== null; ) {
    const page = await json(
      server,
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    yield* page.items;
    cursor = page.next_cursor;
  }
}

/** A site by its id, its name or its address. */
async function siteOf(server, named) {
  if (!named) throw usage('Which site? Name it by its id, its name or its address.', 'frontage site list');
  if (/^site_/.test(named)) return json(server, 'GET', `/v1/sites/${encodeURIComponent(named)}`);
  for await (const site of every(server, '/v1/sites')) {
    if ([site.name, site.address, site.address?.replace(/^https?:\/\//, '')].includes(named)) return site;
  }
  throw new Stop(exits.refused, `No site of yours is called ${plain(named)}.`, {
    next: 'frontage site list',
    code: 'not_found',
  });
}

// ─── Operations, from the description ──────────────────────────────────────────────────────────────────────────────────────

async function readDescription({ baseUrl }) {
  const kept = join(cacheDir, `${hashOf(baseUrl).slice(0, 16)}.json`);
  if (existsSync(kept) && Date.now() - statSync(kept).mtimeMs < descriptionKeptMs) {
    try {
      return JSON.parse(readFileSync(kept, 'utf8'));
    } catch {} // What is kept there is not ours: it is written anew.
  }
  const description = await json({ baseUrl }, 'GET', '/openapi.json');
  try {
    mkdirSync(cacheDir, { recursive: true });
    const written = `${kept}.${randomUUID()}`;
    writeFileSync(written, JSON.stringify(description));
    renameSync(written, kept);
  } catch {} // Where nothing can be kept, it is read each time.
  return description;
}

async function operationsOf(server) {
  const { paths = {}, components } = await readDescription(server);
  const resolveRef = (schema) => (schema?.$ref ? components?.schemas?.[schema.$ref.split('/').at(-1)] : schema);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const content = operation.requestBody?.content ?? {};
      // Such words alone: a shell reads them, when it completes.
      const [, noun, verb] = /^([a-z][a-z_]*)\.([a-z][a-z_]*)$/.exec(operation.operationId) ?? [];
      if (!noun) return [];
      return {
        noun: noun.replaceAll('_', '-'),
        verb: verb.replaceAll('_', '-'),
        method: method.toUpperCase(),
        path,
        summary: operation.summary,
        description: operation.description,
        parts: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
        query: (operation.parameters ?? []).filter((one) => one.in === 'query'),
        body: resolveRef(content['application/json']?.schema),
        resolveRef,
        takesFile: method === 'put' && !content['application/json'],
      };
    }),
  );
}

/** The verbs of each noun. */
function verbsOf(operations) {
  const verbs = new Map();
  for (const { noun, verb } of operations) verbs.set(noun, [...(verbs.get(noun) ?? []), verb]);
  return verbs;
}

function readNamed(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw usage(`${file} cannot be read.`);
  }
}

const flagOf = (name) => name.replaceAll('_', '-');
const typesOf = (schema = {}) => [schema.type, ...(schema.anyOf ?? schema.oneOf ?? []).map(({ type }) => type)].flat();

/** The value of a flag as its schema wants it: `@file` and `-` read one, structures are JSON. */
async function readValue(flag, written, schema, use) {
  const types = typesOf(schema);
  if (written === true) {
    if (types.includes('boolean')) return true;
    throw usage(`--${flag} needs a value.`, use);
  }
  const text =
    written === '-' ? await readAll(process.stdin) : /^@./.test(written) ? readNamed(written.slice(1)) : written;
  if (types.includes('string') && !(types.includes('null') && text === 'null')) return text;
  try {
    return JSON.parse(text);
  } catch {
    if (types[0] === undefined) return text;
    throw usage(`--${flag} takes ${types.filter(Boolean).join(' or ')}, as JSON.`, use);
  }
}

async function runOperation(server, operation, words, options) {
  const { parts, query, body: schema, method, takesFile } = operation;
  const teaching = `frontage ${operation.noun} ${operation.verb} --help`;
  if (words.length < parts.length || words.length > parts.length)
    throw usage(`It takes ${wordsOf(operation).join(' ') || 'no words'}.`, usageOf(operation));
  // A site may be called by its name wherever a call is about one.
  const isOfSite = operation.path.startsWith('/v1/sites/{') && !/^site_/.test(words[0]);
  if (isOfSite) words = [(await siteOf(server, words[0])).id, ...words.slice(1)];
  const path = parts.reduce(
    (filled, part, index) =>
      filled.replace(
        `{${part}}`,
        part === 'path' ? words[index].split('/').map(encodeURIComponent).join('/') : encodeURIComponent(words[index]),
      ),
    operation.path,
  );
  const asked = new URLSearchParams();
  // A call may have a field of that name itself; then `--body` is that field.
  const isField = schema?.properties?.body !== undefined;
  if (isField && options.body !== undefined) options.flags.body = options.body;
  const body =
    isField || options.body === undefined ? {} : await readValue('body', options.body, { type: 'object' }, teaching);
  const known = { ...Object.fromEntries(query.map((one) => [flagOf(one.name), [asked, one.name, one.schema]])) };
  for (const [name, part] of Object.entries(schema?.properties ?? {})) known[flagOf(name)] = [body, name, part];
  for (const [flag, written] of Object.entries(options.flags)) {
    if (flag === 'file' && takesFile) continue;
    const [target, name, part] = known[flag] ?? [];
    if (!target) throw usage(`It knows no --${flag}.`, usageOf(operation));
    if (target === asked) asked.set(name, written === true ? 'true' : written);
    else body[name] = await readValue(flag, written, part, teaching);
  }
  if (typeof body.site_id === 'string' && !/^site_/.test(body.site_id))
    body.site_id = (await siteOf(server, body.site_id)).id;
  const lacking = (schema?.required ?? []).filter((name) => body[name] === undefined);
  if (lacking.length > 0)
    throw usage(`It needs ${lacking.map((name) => `--${flagOf(name)}`).join(' and ')}.`, usageOf(operation));
  const waits = query.find(({ name }) => name === 'wait');
  if (waits && options.wait !== undefined) asked.set('wait', options.wait);
  if (takesFile && !(typeof options.flags.file === 'string' && existsSync(options.flags.file)))
    throw usage('It needs --file with the path of what to send.', usageOf(operation));
  const search = asked.size > 0 ? `?${asked}` : '';
  const answer = await call(server, method, `${path}${search}`, {
    ...(takesFile ? { file: options.flags.file } : schema ? { body } : {}),
    headers:
      waits || options.wait === undefined
        ? {}
        : { prefer: options.wait === '0' ? 'respond-async' : `wait=${options.wait}` },
  });
  if (!answer.headers.get('content-type')?.startsWith('application/json')) return { file: answer.body };
  return { body: await bodyOf(answer) };
}

// ─── What people see ───────────────────────────────────────────────────────────────────────────────────────────────────────

const isTerminal = process.stderr.isTTY === true;
/** Prints for the reader or the next program, and answers the exit code. */
const print = (text, exit = exits.done) => {
  console.log(plain(text));
  return exit;
};
const strong = (text) => (process.stdout.isTTY && !process.env.NO_COLOR ? `\u001b[1m${text}\u001b[0m` : text);
const say = (line) => process.stderr.write(`${line}\n`);
// What comes from elsewhere commands no terminal, and turns no line around.
const plain = (text) => String(text).replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '·');
const shown = (value) =>
  plain(
    value === null || value === undefined ? '–' : typeof value === 'object' ? JSON.stringify(value) : value,
  ).replaceAll(/[\n\t]+/g, ' ');
/** JSON that is safe to look at: by itself it escapes the lower control characters alone. */
const toJson = (value) =>
  JSON.stringify(value, null, 2).replaceAll(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Files go out as they come, and none of one is held; but not onto a terminal that could take them for commands. */
async function writeOut(stream) {
  if (!process.stdout.isTTY) return await pipeline(stream, process.stdout, { end: false });
  const text = new TextDecoder();
  for await (const chunk of stream) process.stdout.write(plain(text.decode(chunk, { stream: true })));
}

/** Prints an answer, as it came or for reading, and says which exit code it makes. */
function show(body, { json: asJson }) {
  if (asJson) console.log(toJson(body));
  else if (Array.isArray(body.items)) showList(body);
  else for (const [key, value] of Object.entries(body)) if (key !== 'next_action') console.log(field(key, value));
  if (typeof body.next_action !== 'string') return exits.done;
  if (!asJson) say(`→ ${plain(body.next_action)}`);
  // What it may be used for next is no reason to wait.
  if (['active', 'ready'].includes(body.status)) return exits.done;
  return waitsForPerson(body) ? exits.person : exits.unfinished;
}

/** Whether it goes on by what the owner does, or a person of the platform: no program has to ask again before that. */
const waitsForPerson = ({ user_code, waiting_on, waiting_for }) =>
  Boolean(user_code) ||
  ['owner', 'operator'].includes(waiting_on) ||
  (Array.isArray(waiting_for) && waiting_for.length > 0);

const isStructure = (value) => typeof value === 'object' && value !== null;
/** In one line: `type A  name example.com`, or `a, b`. */
function inLine(value) {
  if (!isStructure(value)) return shown(value);
  if (Array.isArray(value)) return value.map(shown).join(', ') || '–';
  return Object.entries(value)
    .map(([name, part]) => `${shown(name)} ${shown(part)}`)
    .join('  ');
}

/** The lines of what has parts; none of what one line holds. */
function partsOf(value) {
  if (!isStructure(value)) return [];
  if (Array.isArray(value)) return value.some(isStructure) ? value.map(inLine) : [];
  return Object.entries(value).map(([name, part]) => `${shown(name).padEnd(22)} ${inLine(part)}`);
}

/** A field for reading. */
function field(name, value) {
  const parts = partsOf(value);
  const head = `${strong(shown(name).padEnd(24))} ${parts.length > 0 ? '' : inLine(value)}`;
  return [head.trimEnd(), ...parts.map((part) => `  ${part}`)].join('\n');
}

/** What tells things apart comes first. */
const leading = ['id', 'name', 'title', 'status', 'address'];

function showList({ items, next_cursor }) {
  // What is longer than a line is for who reads the one thing.
  const isLong = (value) => typeof value === 'string' && (value.length > 100 || value.includes('\n'));
  const isCell = (key) =>
    items.every(
      ({ [key]: value }) => value === null || (typeof value !== 'object' && (key === 'next_action' || !isLong(value))),
    );
  const keys = items.flatMap((item) => Object.keys(item).filter(isCell));
  const columns = [...new Set([...leading.filter((key) => keys.includes(key)), ...keys])].slice(0, 7);
  const widths = columns.map((key) =>
    Math.min(64, Math.max(key.length, ...items.map((item) => shown(item[key]).length))),
  );
  const row = (cells) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index]))
      .join('  ')
      .trimEnd();
  if (items.length === 0) say('Nothing.');
  else
    console.log(
      [strong(row(columns.map(shown))), ...items.map((item) => row(columns.map((key) => shown(item[key]))))].join('\n'),
    );
  if (next_cursor) say(`→ more with --cursor ${plain(next_cursor)}`);
}

/** What each word of a call is: a site by any of its names, all else by its id. */
function wordsOf({ path, parts }) {
  const [, of] = /\/([a-z-]+?)s?\/\{id\}/.exec(path) ?? [];
  return parts.map((part) => `<${part !== 'id' || !of ? part : of === 'site' ? of : `${of}-id`}>`);
}

/** The shape of a structure in one line, as somebody would begin to write it. */
function shapeOf(schema = {}, resolveRef, depth = 0) {
  const { type, items, properties, required = [], enum: values } = resolveRef(schema);
  if (values) return values.join('|');
  if (type === 'array') return `[${shapeOf(items, resolveRef, depth)}, …]`;
  if (!properties || depth > 1) return typeof type === 'string' ? type : 'any';
  const fields = Object.entries(properties).map(([name, part]) => {
    const isPlain = !['array', 'object'].includes(resolveRef(part).type);
    return `${name}${required.includes(name) ? '' : '?'}${isPlain ? '' : `: ${shapeOf(part, resolveRef, depth + 1)}`}`;
  });
  return `{ ${fields.join(', ')} }`;
}

function usageOf(operation) {
  const { noun, verb, query = [], body, takesFile } = operation;

  const required = (body?.required ?? []).map((name) => `--${flagOf(name)} …`);
  const more = query.length > 0 || Object.keys(body?.properties ?? {}).length > required.length ? ['[options]'] : [];
  return ['frontage', noun, verb, ...wordsOf(operation), ...(takesFile ? ['--file …'] : []), ...required, ...more].join(
    ' ',
  );
}

const summaryOf = (operation) => `${usageOf(operation)}\n    ${operation.summary}.`;

function helpOf(operation) {
  const { summary, description, query, body, takesFile, resolveRef } = operation;
  const line = (name, schema, isRequired) => {
    const isStructure = ['array', 'object'].includes(resolveRef(schema ?? {})?.type);
    const shape = isStructure ? `JSON: ${shapeOf(schema, resolveRef)}` : schema?.enum?.join(' | ');
    return `  --${flagOf(name).padEnd(24)} ${[isRequired && 'required.', shape, schema?.description].filter(Boolean).join(' ')}`;
  };
  const flags = [
    ...(takesFile ? [line('file', { description: 'What to send.' }, true)] : []),
    ...Object.entries(body?.properties ?? {}).map(([name, schema]) =>
      line(name, schema, body.required?.includes(name)),
    ),
    ...query.map((one) =>
      line(one.name, { ...one.schema, description: one.description ?? one.schema?.description }, one.required),
    ),
  ];
  return [
    usageOf(operation),
    '',
    `${summary}.${description ? ` ${description}` : ''}`,
    ...(flags.length > 0
      ? [
          '',
          ...flags,
          '',
          'A value @name is read from a file, - from standard input; lists and objects are JSON. --body takes the whole body.',
        ]
      : []),
  ].join('\n');
}

// ─── Commands that are more than one call ──────────────────────────────────────────────────────────────────────────────────

const commands = {
  login: {
    use: 'frontage login --email <owner> [--url <address>] [--name <agent>] [--no-wait]',
    about:
      'Ask the owner for access: they get a mail and type the code that you are shown. With --no-wait, ask again later by the same command.',
    async run(server, _words, { flags, json: asJson }) {
      const known = readConfig().servers[server.baseUrl]?.request;
      const asked =
        known && Date.parse(known.expires_at) > Date.now() && (!flags.email || flags.email === known.email)
          ? known
          : await askForAccess(server, flags);
      // To the terminal, also where the answer goes to a program: without the code nobody can let it in.
      const sayCode = () =>
        say(
          `The code is ${plain(asked.user_code)}. ${plain(asked.email)} has a mail: open its link and type the code there.`,
        );
      if (asked !== known) sayCode();
      for (let isFirst = asked === known; ; isFirst = false) {
        const { status, access_token } = await json(
          { baseUrl: server.baseUrl },
          'POST',
          `/v1/auth/requests/${asked.id}/redeem`,
          { body: { secret: asked.secret } },
        ).catch((stop) => {
          if (overWith.includes(stop.body?.error?.code)) changeServer(server.baseUrl, { request: undefined });
          if (stop.body?.error?.code === 'expired') stop.next = `frontage login --email ${asked.email}`;
          throw stop;
        });
        if (status === 'approved') {
          changeServer(server.baseUrl, { token: access_token, request: undefined });
          const account = await json({ baseUrl: server.baseUrl, token: access_token }, 'GET', '/v1/account');
          if (asJson) return show(account, { json: true });
          return print(
            `✓ You are let in at ${server.baseUrl}, for ${account.email} (${account.id}).\n→ frontage skill teaches the work, frontage account read says what there is.`,
          );
        }
        if (isFirst) sayCode();
        if (flags['no-wait']) {
          if (!asJson) say('→ the same command again, once they have typed it');
          if (asJson) console.log(toJson({ status, user_code: asked.user_code, expires_at: asked.expires_at }));
          return exits.person;
        }
        await pause(Math.min(60, Math.max(1, Number(asked.interval_seconds) || 5)) * 1000);
      }
    },
  },
  logout: {
    use: 'frontage logout',
    about: 'Forget the token on this machine. Whoever holds another one can revoke it: frontage token revoke.',
    async run(server, _words, { json: asJson }) {
      changeServer(server.baseUrl, { token: undefined, request: undefined });
      return show({ url: server.baseUrl, status: 'logged out' }, { json: asJson });
    },
  },
  clone: {
    use: 'frontage clone <site> [folder]',
    about:
      'Clone the source, and the content to where the build mounts it. Git asks this client for passwords from then on.',
    async run(server, [named, folder], { json: asJson }) {
      const site = await siteOf(server, named);
      const { source, content } = site.git;
      if (![source, content].every((url) => url.startsWith(`${server.baseUrl}/git/`)))
        throw new Stop(exits.refused, 'The site names repositories that are not of this server.');
      if (!folder && !/^[a-z0-9][a-z0-9-]*$/.test(site.name)) throw usage('Into which folder?', this.use);
      const target = resolve(folder ?? site.name);
      const helper = [
        // Empties git's list first: a helper of the whole machine would store a password that is good for an hour.
        `credential.${server.baseUrl}.helper=`,
        `credential.${server.baseUrl}.helper=!${quoted(process.execPath)} ${quoted(client)} git-credential`,
        `credential.${server.baseUrl}.useHttpPath=true`,
      ];
      const env = { ...process.env, FRONTAGE_URL: server.baseUrl };
      const git = (...args) => {
        const { status } = spawnSync('git', args, { stdio: ['ignore', 2, 2], env });
        if (status !== 0) throw new Stop(exits.refused, 'git did not end well; its own words are above.');
      };
      const settings = helper.flatMap((setting) => ['--config', setting]);
      git('clone', ...settings, '--', source, target);
      git('clone', ...settings, '--', content, join(target, 'src', 'content'));
      return show({ site_id: site.id, source: target, content: join(target, 'src', 'content') }, { json: asJson });
    },
  },
  'git-credential': {
    use: 'frontage git-credential get',
    about: 'What git asks for a password (gitcredentials(7)); clone sets it up.',
    async run(server, [action]) {
      if (action !== 'get') return exits.done;
      const asked = Object.fromEntries(
        (await readAll(process.stdin))
          .split('\n')
          .filter(Boolean)
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      );
      const [, siteId, isContent] = /^git\/(site_\w+)(\.content)?\.git/.exec(asked.path ?? '') ?? [];
      const baseUrl = `${asked.protocol}://${asked.host}`;
      // A token goes nowhere but to the server that it is of.
      const token = baseUrl === server.baseUrl ? server.token : readConfig().servers[baseUrl]?.token;
      if (!siteId || !token) return exits.done;
      const path = `/v1/sites/${siteId}/git-credentials`;
      const passwordFor = (access) =>
        json({ baseUrl, token }, 'POST', path, {
          body: { repository: isContent ? 'content' : 'source', access, expires_in_seconds: 3600 },
        });
      // An archived site can be cloned still.
      const { username, password } = await passwordFor('write').catch((stop) => {
        if (stop.body?.error?.code !== 'site_archived') throw stop;
        return passwordFor('read');
      });
      // A line more would tell git something else.
      if (/[\n\0]/.test(`${username}${password}`)) throw new Stop(exits.refused, 'The password is none.');
      process.stdout.write(`username=${username}\npassword=${password}\n`);
      return exits.done;
    },
  },
  publish: {
    use: 'frontage publish <site> [--scope site|posts]',
    about: 'Build what is pushed and make it live; the log of the build is shown as it grows.',
    async run(server, [named], { flags, json: asJson }) {
      const site = await siteOf(server, named);
      const begun = await json(server, 'POST', `/v1/sites/${site.id}/publish`, {
        body: { scope: flags.scope ?? 'site' },
        headers: { prefer: 'respond-async' },
        gapMs: gapMsMax,
      });
      const ended = await follow(server, begun, asJson);
      if (!asJson && ended.status === 'live') say(`✓ Version ${ended.number} is live: ${site.address}`);
      return endOf(ended, asJson);
    },
  },
  preview: {
    use: 'frontage preview <site> [slot]',
    about: 'Build a slot (1 unless said) and say where it is shown; the log of the build is shown as it grows.',
    async run(server, [named, slot = '1'], { json: asJson }) {
      const site = await siteOf(server, named);
      const path = `/v1/sites/${site.id}/previews/${encodeURIComponent(slot)}`;
      const begun = await json(server, 'POST', path, { headers: { prefer: 'respond-async' }, gapMs: gapMsMax });
      if (begun.status !== 'building') return show(begun, { json: asJson });
      const build = await follow(server, { id: begun.build_id, status: 'queued' }, asJson);
      if (build.error) return endOf(build, asJson);
      const shown = await json(server, 'GET', path, { gapMs: gapMsMax });
      if (!asJson && shown.address) say(`✓ Slot ${shown.slot} shows it: ${plain(shown.address)}`);
      return show(shown, { json: asJson });
    },
  },
  deploy: {
    use: 'frontage deploy <site> <folder>',
    about: 'Make built output live as it is, without a build here. Only bytes that the service lacks are sent.',
    async run(server, [named, folder], { json: asJson }) {
      if (!folder) throw usage('Which folder holds the built output?', this.use);
      const site = await siteOf(server, named);
      const files = await filesBelow(folder);
      const { id } = await json(server, 'POST', `/v1/sites/${site.id}/deployments`, { body: {} });
      let sent = 0;
      for (let from = 0; from < files.length; from += 1000) {
        const part = files.slice(from, from + 1000);
        const { missing } = await json(server, 'POST', `/v1/deployments/${id}/manifest`, {
          body: { files: part.map(({ path, sha256, bytes }) => ({ path, sha256, bytes })) },
        });
        for (const sha256 of missing) {
          await call(server, 'PUT', `/v1/deployments/${id}/files/${sha256}`, {
            file: part.find((file) => file.sha256 === sha256).file,
          });
          sent += 1;
        }
      }
      if (!asJson) say(`${files.length} files, ${sent} of them sent.`);
      return endOf(
        await follow(
          server,
          await json(server, 'POST', `/v1/deployments/${id}/complete`, { body: {}, gapMs: gapMsMax }),
          asJson,
        ),
        asJson,
      );
    },
  },
  open: {
    use: 'frontage open <site>',
    about: 'Show the site in a browser; without a terminal, print its address.',
    async run(server, [named], { json: asJson }) {
      const { address } = await siteOf(server, named);
      if (!/^https?:\/\/[\w.:[\]-]+\/?$/.test(address))
        throw new Stop(exits.refused, 'The site has no address to open.');
      console.log(asJson ? toJson({ address }) : address);
      const opener = { darwin: 'open', win32: 'explorer' }[process.platform] ?? 'xdg-open';
      if (process.stdout.isTTY)
        spawn(opener, [address], { stdio: 'ignore', detached: true })
          .on('error', () => {})
          .unref();
      return exits.done;
    },
  },
  skill: {
    use: 'frontage skill [path] [--into <folder>]',
    about:
      'Print SKILL.md or another page of the skill, or write the whole tree into a folder. --json lists its pages.',
    async run(server, [path], { flags, json: asJson }) {
      const pageOf = (name) => call(server, 'GET', `/skill/${name.split('/').map(encodeURIComponent).join('/')}`);
      if (path !== undefined || (flags.into === undefined && !asJson)) {
        await writeOut([await bytesOf(await pageOf(path ?? 'SKILL.md'))]);
        return exits.done;
      }
      const tree = await json(server, 'GET', '/skill/');
      if (flags.into === undefined) return show(tree, { json: true });
      if (flags.into === true) throw usage('Into which folder?', this.use);
      for (const { path: name, sha256 } of tree.files) {
        const target = resolve(flags.into, name);
        if (!target.startsWith(resolve(flags.into) + sep))
          throw new Stop(exits.refused, `${plain(name)} leads out of the folder.`);
        const bytes = await bytesOf(await pageOf(name));
        if (hashOf(bytes) !== sha256)
          throw new Stop(exits.refused, `${plain(name)} is not what the list says.`, {
            next: 'the same command again',
          });
        await mkdir(dirname(target), { recursive: true });
        await writeFile(target, bytes);
      }
      return show({ version: tree.version, files: tree.files.length, folder: resolve(flags.into) }, { json: asJson });
    },
  },
  completion: {
    use: 'frontage completion bash|zsh|fish',
    about: 'Print what makes a shell complete commands: source <(frontage completion bash).',
    async run(server, [shell]) {
      const operations = await operationsOf(server);
      const words = [...Object.keys(commands), ...new Set(operations.map(({ noun }) => noun))].join(' ');
      const verbs = [...verbsOf(operations)].map(([noun, list]) => [noun, list.join(' ')]);
      const cases = verbs.map(([noun, list]) => `    ${noun}) list="${list}";;`).join('\n');
      if (shell === 'bash' || shell === 'zsh') {
        console.log(
          `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_frontage() {\n  local list="${words}"\n  [ "$COMP_CWORD" -gt 1 ] && list="" && case "\${COMP_WORDS[1]}" in\n${cases}\n  esac\n  [ "$COMP_CWORD" -gt 2 ] && list=""\n  COMPREPLY=($(compgen -W "$list" -- "\${COMP_WORDS[$COMP_CWORD]}"))\n}\ncomplete -o default -F _frontage frontage`,
        );
      } else if (shell === 'fish') {
        console.log(
          [
            `complete -c frontage -f -n __fish_use_subcommand -a "${words}"`,
            ...verbs.map(
              ([noun, list]) => `complete -c frontage -f -n "__fish_seen_subcommand_from ${noun}" -a "${list}"`,
            ),
          ].join('\n'),
        );
      } else throw usage('Which shell?', this.use);
      return exits.done;
    },
  },
};

/** After these an access request is over. After any other refusal (a limit, a fault) the code that the owner was shown still holds. */
const overWith = ['access_denied', 'expired', 'already_redeemed', 'signin_unavailable', 'not_found'];

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

async function askForAccess(server, flags) {
  const email = typeof flags.email === 'string' ? flags.email : await askPerson('Address of the owner: ', '--email');
  const agentName = typeof flags.name === 'string' ? flags.name : `frontage on ${hostname()}`.slice(0, 60);
  const asked = {
    ...(await json({ baseUrl: server.baseUrl }, 'POST', '/v1/auth/requests', {
      body: { email, agent_name: agentName },
    })),
    email,
  };
  changeServer(server.baseUrl, { request: asked });
  return asked;
}

/** Asks in the terminal. Without one nobody is there to answer. */
async function askPerson(question, flag) {
  if (!process.stdin.isTTY || !isTerminal)
    throw usage(`${flag} is needed.`, 'frontage login --email owner@example.com');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

/** Begins the line anew where the seconds stand in it. */
const overProgress = isTerminal ? '\r\u001b[K' : '';

/** Shows the log of a build while it grows, over gaps in the network, and answers the deployment when it is settled. */
async function follow(server, deployment, quiet) {
  const { id, status } = deployment;
  if (!['queued', 'building', 'storing'].includes(status)) return deployment;
  const begunAt = Date.now();
  const progress = setInterval(
    () => isTerminal && !quiet && process.stderr.write(`\r… ${Math.round((Date.now() - begunAt) / 1000)} s `),
    1000,
  );
  try {
    for (let last; ; ) {
      const stream = await call(server, 'GET', `/v1/deployments/${id}/log`, {
        headers: { accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) },
        gapMs: gapMsMax,
      });
      for await (const event of eventsOf(stream)) {
        last = event.id ?? last;
        if (event.type === 'log' && !quiet)
          process.stderr.write(`${overProgress}${event.data.split('\n').map(plain).join('\n')}`);
        if (event.type === 'end') return await json(server, 'GET', `/v1/deployments/${id}`, { gapMs: gapMsMax });
      }
      await pause(500);
    }
  } catch (stop) {
    // The service builds on without us.
    if (stop instanceof Stop) stop.next ??= `frontage deployment read ${plain(id)}`;
    throw stop;
  } finally {
    clearInterval(progress);
    if (!quiet) process.stderr.write(overProgress);
  }
}

/** Server-sent events (HTML standard, section 9.2). A connection that breaks, or says nothing for too long, ends them. */
async function* eventsOf(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let held = ''; ; ) {
      const { value, done } = await withinSilence(reader.read());
      if (done) return;
      held += value;
      if (held.length > answerBytesMax) throw new Stop(exits.refused, 'The log has a line without an end.');
      const blocks = held.split('\n\n');
      held = blocks.pop();
      for (const block of blocks) {
        const field = (name) =>
          block
            .split('\n')
            .filter((line) => line.startsWith(`${name}: `))
            .map((line) => line.slice(name.length + 2));
        yield { type: field('event')[0], id: field('id')[0], data: field('data').join('\n') };
      }
    }
  } catch (error) {
    if (error instanceof Stop) throw error; // Otherwise the caller goes on from the last id.
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** What a read brings, or its end where nothing comes any more: a connection may be gone without a word. */
async function withinSilence(read) {
  let timer;
  const silence = new Promise((done) => {
    timer = setTimeout(done, silenceMsMax, { done: true });
  });
  return await Promise.race([read, silence]).finally(() => clearTimeout(timer));
}

function endOf(deployment, asJson) {
  if (deployment.error) {
    // The log stands above already, but for who reads JSON alone.
    const { detail, ...error } = deployment.error;
    throw Object.assign(asStop(422, { error }), { body: { error: { ...error, detail } } });
  }
  const exit = show(
    asJson
      ? deployment
      : {
          id: deployment.id,
          status: deployment.status,
        },
    { json: asJson },
  );
  if (!asJson)
    for (const { path, message } of deployment.warnings?.items ?? []) say(`! ${shown(path)}: ${shown(message)}`);
  return ['live', 'retired', 'ready'].includes(deployment.status)
    ? exits.done
    : deployment.status === 'superseded' || deployment.status === 'cancelled'
      ? exits.refused
      : exit;
}

async function filesBelow(folder) {
  const items = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => {
    throw usage(`${folder} is no folder that can be read.`);
  });
  return items
    .filter((item) => item.isFile())
    .map((item) => {
      const file = join(item.parentPath ?? item.path, item.name);
      const bytes = readFileSync(file);
      return {
        file,
        path: relative(folder, file).split(sep).join('/'),
        bytes: bytes.length,
        sha256: hashOf(bytes),
      };
    });
}

// ─── From words to a command ───────────────────────────────────────────────────────────────────────────────────────────────

const ownFlags = new Set(['json', 'help', 'no-wait', 'version']);

/** Words and flags: `--flag value`, `--flag=value`, and those of `ownFlags` alone. After `--` all are words. */
function parse(args) {
  const words = [];
  const flags = {};
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at];
    if (arg === '--') words.push(...args.splice(at + 1));
    else if (arg === '-h') flags.help = true;
    else if (!arg.startsWith('--')) words.push(arg);
    else {
      const [, name, value] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
      if (!name) throw usage(`${arg} is no option.`);
      const next = args[at + 1];
      const takesNext =
        value === undefined && !ownFlags.has(name) && next !== undefined && (!next.startsWith('--') || next === '--');
      flags[name] = value ?? (takesNext ? next : true);
      if (takesNext) at += 1;
    }
  }
  const { json: asJson = false, help = false, version = false, url, body, wait, ...rest } = flags;
  return { words, options: { json: asJson === true, help, version, url, body, wait, flags: rest } };
}

/** Which client this is, and whether the server serves another one by now. */
async function showVersion({ baseUrl }, { json: asJson }) {
  const tree = await json({ baseUrl }, 'GET', '/skill/').catch(() => ({}));
  const served = tree.files?.find(({ path }) => path === 'bin/frontage.mjs')?.sha256;
  const isNewest = served === undefined ? null : served === ownHash;
  if (asJson) return print(toJson({ version, node: process.versions.node, url: baseUrl, newest: isNewest }));
  print(`frontage ${version} (Node ${process.versions.node}), for ${baseUrl}`);
  if (isNewest === null) say(`Whether it is the newest is not known: ${baseUrl} does not answer.`);
  else if (!isNewest)
    say(`→ Another one is served: curl -s -o ${plain(quoted(client))} ${baseUrl}/skill/bin/frontage.mjs`);
  return exits.done;
}

async function overview(server) {
  const operations = await operationsOf(server).catch(() => []);
  const nouns = verbsOf(operations);
  return [
    'frontage: makes and runs websites for an agent and its owner.',
    '',
    ...Object.values(commands).map(({ use, about }) => `  ${use}\n      ${about}`),
    '',
    'Every call of the API is a noun and a verb (frontage site list; frontage <noun> <verb> --help teaches it):',
    '',
    ...[...nouns].map(([noun, verbs]) => `  ${noun.padEnd(16)} ${verbs.join(' ')}`),
    '',
    '  --json prints the answer as it came. --wait 0…50 says how many seconds a call may wait for its end.',
    '  FRONTAGE_URL and FRONTAGE_TOKEN stand in for what login keeps. --version says whether a newer client is served.',
    '  Exit codes: 0 done, 1 refused, 2 used wrongly, 3 not finished yet, 4 a person has to act.',
    '',
    `“frontage” is this file: node ${client} …, or once: alias frontage="node '${client}'".`,
    'New here? frontage login, then frontage skill: it teaches the work.',
  ].join('\n');
}

async function main(args) {
  const { words, options } = parse(args);
  const [first, second, ...rest] = words;
  const server = whereTo(options);
  if (options.version) return await showVersion(server, options);
  if (first === undefined) return print(await overview(server), options.help ? exits.done : exits.usage);
  if (first === 'help') return await main([...args.filter((arg) => arg !== 'help'), '--help']);
  const command = Object.hasOwn(commands, first) ? commands[first] : undefined;
  // `preview` and `skill` are commands, and nouns of the API besides.
  const isShared = command && ['preview', 'skill'].includes(first) && (options.help || second !== undefined);
  const operations = command && !isShared ? [] : (await operationsOf(server)).filter(({ noun }) => noun === first);
  if (command && !operations.some(({ verb }) => verb === second)) {
    if (!options.help) {
      const unknown = Object.keys(options.flags).find(
        (flag) => !command.use.includes(`[--${flag}`) && !command.use.includes(` --${flag}`),
      );
      if (unknown) throw usage(`It knows no --${unknown}.`, command.use);
      return await command.run(server, words.slice(1), options);
    }
    return print([`${command.use}\n\n${command.about}`, ...operations.map(summaryOf)].join('\n\n'));
  }

  if (operations.length === 0) throw usage(`There is no command ${plain(first)}.`);
  if (second === undefined) return print(operations.map(summaryOf).join('\n'), options.help ? exits.done : exits.usage);
  const operation = operations.find(({ verb }) => verb === second);
  if (!operation) throw usage(`${first} knows no ${plain(second)}.`, `frontage ${first} --help`);
  if (options.help) return print(helpOf(operation));
  const { body, file } = await runOperation(server, operation, rest, options);
  if (body) return show(body, options);
  await writeOut(file);
  return exits.done;
}

// Who reads only the beginning has read enough.
process.stdout.on('error', ({ code }) => process.exit(code === 'EPIPE' ? exits.done : exits.refused));

main(process.argv.slice(2))
  .then((exit) => {
    process.exitCode = exit;
  })
  .catch((error) => {
    const asJson = process.argv.includes('--json');
    if (error instanceof Stop) {
      if (asJson) console.log(toJson(error.body));
      else say(`✗ ${plain(error.message)}${error.next ? `\n→ ${plain(error.next)}` : ''}`);
      process.exitCode = error.exit;
    } else {
      say(`✗ ${plain(error.message)}`);
      process.exitCode = exits.refused;
    }
  });
