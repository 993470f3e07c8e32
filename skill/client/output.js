/** Output for people and programs. */
import { pipeline } from 'node:stream/promises';
import { exits } from './server.js';

export const isTerminal = process.stderr.isTTY === true;

/**
 * Removes control characters, and characters that change the direction of text.
 * @param {unknown} text
 */
export const plain = (text) => String(text).replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '·');
/** @param {string} line */
export const log = (line) => process.stderr.write(`${line}\n`);
/** @param {string} text */
const strong = (text) => (process.stdout.isTTY && !process.env.NO_COLOR ? `\u001b[1m${text}\u001b[0m` : text);

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
  else if (Array.isArray(body.items)) showList(body);
  else for (const [key, value] of Object.entries(body)) if (key !== 'next_action') console.log(field(key, value));
  if (typeof body.next_action !== 'string') return exits.done;
  if (!asJson) log(`→ ${plain(body.next_action)}`);
  // These are finished; their next_action is optional.
  if (['active', 'ready'].includes(body.status)) return exits.done;
  return waitsForPerson(body) ? exits.person : exits.unfinished;
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
const isStructure = (value) => typeof value === 'object' && value !== null;

/**
 * A structure in one line: `type A  name example.com`, or `a, b`.
 * @param {unknown} value
 * @returns {string}
 */
function inLine(value) {
  if (!isStructure(value)) return shown(value);
  if (Array.isArray(value)) return value.map(shown).join(', ') || '–';
  return Object.entries(value)
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
  return Object.entries(value).map(([name, part]) => `${shown(name).padEnd(22)} ${inLine(part)}`);
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function field(name, value) {
  const parts = partsOf(value);
  const head = `${strong(shown(name).padEnd(24))} ${parts.length > 0 ? '' : inLine(value)}`;
  return [head.trimEnd(), ...parts.map((part) => `  ${part}`)].join('\n');
}

/** The first columns of a list. */
const leading = ['id', 'name', 'title', 'status', 'address', 'fields'];

/** @param {{ items: any[], next_cursor: string | null }} list */
function showList({ items, next_cursor }) {
  /** Values longer than a line are shown only for a single item. @param {unknown} value */
  const isLong = (value) => typeof value === 'string' && (value.length > 100 || value.includes('\n'));
  // A visitor's answers, of which all belong to one form.
  const hasAnswers = items.every(({ fields }) => isStructure(fields) && !Array.isArray(fields));
  /** @param {string} key */
  const isCell = (key) =>
    hasAnswers && ['fields', 'form_id'].includes(key)
      ? key === 'fields'
      : items.every(
          ({ [key]: value }) =>
            value === null || (typeof value !== 'object' && (key === 'next_action' || !isLong(value))),
        );
  const keys = items.flatMap((item) => Object.keys(item).filter(isCell));
  const columns = [...new Set([...leading.filter((key) => keys.includes(key)), ...keys])].slice(0, 7);
  const widths = columns.map((key) =>
    Math.min(64, Math.max(key.length, ...items.map((item) => inLine(item[key]).length))),
  );
  /** @param {string[]} cells */
  const row = (cells) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  const rows = items.map((item) => row(columns.map((key) => inLine(item[key]))));
  if (items.length === 0) log('The list is empty.');
  else console.log([strong(row(columns.map(shown))), ...rows].join('\n'));
  if (next_cursor) log(`→ for more, add --cursor ${plain(next_cursor)}`);
}
