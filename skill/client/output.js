/** Output for people and programs. */
import { pipeline } from 'node:stream/promises';
import { showList } from './lists.js';
import { exits } from './server.js';
import { logWarnings } from './warnings.js';

export const isTerminal = process.stderr.isTTY === true;

/**
 * Removes control characters, and characters that change the direction of text.
 * @param {unknown} text
 */
export const plain = (text) => String(text).replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '·');
/** @param {string} line */
export const log = (line) => process.stderr.write(`${line}\n`);
/** @param {string} text */
export const strong = (text) => (process.stdout.isTTY && !process.env.NO_COLOR ? `\u001b[1m${text}\u001b[0m` : text);

/**
 * Prints to standard output and returns the exit code.
 * @param {string} text
 */
export const print = (text, exit = exits.done) => {
  console.log(plain(text));
  return exit;
};

/**
 * One value in one line.
 * @param {unknown} value
 */
export const shown = (value) =>
  plain(
    value === null || value === undefined ? '–' : typeof value === 'object' ? JSON.stringify(value) : value,
  ).replaceAll(/[\n\t]+/g, ' ');

/**
 * JSON for a terminal: JSON.stringify alone escapes only the lower control characters.
 * @param {unknown} value
 */
export const toJson = (value) =>
  JSON.stringify(value, null, 2).replaceAll(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Streams a file to standard output; on a terminal without control characters.
 * @param {any} stream
 */
export async function writeOut(stream) {
  if (!process.stdout.isTTY) return await pipeline(stream, process.stdout, { end: false });
  const text = new TextDecoder();
  for await (const chunk of stream) process.stdout.write(plain(text.decode(chunk, { stream: true })));
}

/**
 * Prints a response, as JSON or for people, and returns its exit code.
 * @param {any} body
 * @param {{ json: boolean }} options
 */
export function show(body, { json: asJson }) {
  if (asJson) console.log(toJson(body));
  else if (isFile(body)) showFiles([body]);
  else if (body.kind === 'files') showFiles(body.items);
  else if (Array.isArray(body.items)) showList(body);
  else showFields(body);
  if (typeof body.next_action !== 'string') return exits.done;
  if (!asJson) log(`→ ${plain(body.next_action)}`);
  return exitOf(body);
}

/** @param {any} body */
function showFields({ next_action, warnings, ...fields }) {
  for (const [key, value] of Object.entries(withRefundedPart(fields))) console.log(field(key, value));
  if (Array.isArray(warnings?.items)) logWarnings(fields.id, warnings.items);
}

/**
 * A finished result may have a next step, too: publish the preview, or send the payment link. A payment that is `paid`
 * has one only while a part of it is being refunded.
 */
const unfinishedStatuses = 'uploading queued building storing running pending held paid refunding'.split(' ');

/**
 * The exit code of a result that has a next step.
 * @param {any} body
 */
function exitOf(body) {
  if (['active', 'ready'].includes(body.status)) return exits.done;
  if (waitsForPerson(body)) return exits.person;
  if (body.status === 'failed' || body.failed_deployment_id) return exits.refused;
  return unfinishedStatuses.includes(body.status) || body.waiting_on === 'platform' ? exits.unfinished : exits.done;
}

/** @param {any} body */
const isFile = ({ kind, text, base64 }) => kind === 'file' && [text, base64].some((one) => typeof one === 'string');

/**
 * The contents of files of the source as they are; several with their paths.
 * @param {any[]} files
 */
function showFiles(files) {
  for (const { path, text, base64 } of files) {
    if (files.length > 1) log(`==> ${plain(path)}`);
    if (typeof text === 'string') process.stdout.write(process.stdout.isTTY ? plain(text) : text);
    else process.stdout.write(Buffer.from(String(base64), 'base64'));
  }
}

/**
 * Whether only the owner or the operator can continue it. Polling is useless until then.
 * @param {any} body
 */
const waitsForPerson = ({ user_code, waiting_on, waiting_for }) =>
  Boolean(user_code) ||
  ['owner', 'operator'].includes(waiting_on) ||
  (Array.isArray(waiting_for) && waiting_for.length > 0);

/** @param {unknown} value @returns {value is object} */
export const isStructure = (value) => typeof value === 'object' && value !== null;

/**
 * A payment of which a part was refunded has no time at which all of it was.
 * @param {any} fields
 */
export function withRefundedPart(fields) {
  const { refunded_at: at, refunded_amount: part, amount } = fields;
  return at === null && part > 0 ? { ...fields, refunded_at: `in part: ${part} of ${amount}` } : fields;
}

/**
 * A structure in one line: `type A  name example.com`, or `a, b`.
 * @param {unknown} value
 * @returns {string}
 */
export function inLine(value) {
  if (!isStructure(value)) return shown(value);
  if (Array.isArray(value)) return value.map(shown).join(', ') || '–';
  return Object.entries(withRefundedPart(value))
    .map(([name, part]) => `${shown(name)} ${shown(part)}`)
    .join('  ');
}

/**
 * The lines of a structure or a long text; none if one line is enough.
 * @param {unknown} value
 */
function partsOf(value) {
  if (typeof value === 'string' && value.trimEnd().includes('\n')) return value.trimEnd().split('\n').map(plain);
  if (!isStructure(value)) return [];
  if (Array.isArray(value)) return value.some(isStructure) ? value.map(inLine) : [];
  return Object.entries(withRefundedPart(value)).map(([name, part]) => `${shown(name).padEnd(22)} ${inLine(part)}`);
}

/** Fields that contain code. */
const codes = ['embed', 'html'];

/**
 * @param {string} name
 * @param {unknown} value
 */
function field(name, value) {
  const parts = partsOf(value);
  const head = `${strong(shown(name).padEnd(24))} ${parts.length > 0 ? '' : inLine(value)}`;
  // A person copies code, and the spaces would be part of it.
  const indent = codes.includes(name) ? '' : '  ';
  return [head.trimEnd(), ...parts.map((part) => `${indent}${part}`)].join('\n');
}
