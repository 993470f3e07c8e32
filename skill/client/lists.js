/** Lists as tables: the columns that people look for, in this order, before any others. */
import { inLine, isStructure, log, plain, shown, strong, withRefundedPart } from './output.js';

const columnsMax = 8;
const textMax = 60;

/** Columns by their names, the most useful first. */
const leading = [
  'id',
  'number',
  'name',
  'title',
  'path',
  'slot',
  'at',
  'start',
  'status',
  'kind',
  'page',
  'account',
  'visitor',
  'who',
  'author',
  'action',
  'subject',
  'message',
  'text',
  'fields',
  'amount',
  'refunded_amount',
  'currency',
  'paid_at',
  'address',
  'live_at',
  'created_at',
  'created_via',
];

/** Text that a person wrote; it is shortened. Other long values are shown only for a single item. */
const texts = ['message', 'text', 'subject', 'title'];
/** By this one chooses. It is whole, in the last column. */
const whole = 'description';

/**
 * A comment thread is listed by its newest message, a payment with the part of it that was refunded.
 * @param {any} item
 */
function rowOf(item) {
  const last = Array.isArray(item.messages) ? item.messages.at(-1) : undefined;
  if (last && typeof last.body === 'string') return { ...item, author: last.author, text: last.body };
  return withRefundedPart(item);
}

/**
 * A thing or a person by its name, or else its kind.
 * @param {any} value
 */
const nameIn = (value) => [value.name, value.kind, value.id].find((one) => typeof one === 'string');

/**
 * @param {string} key
 * @param {any} value
 */
function cellOf(key, value) {
  if (key !== 'fields' && isStructure(value) && !Array.isArray(value)) return shown(nameIn(value));
  if (!texts.includes(key) || typeof value !== 'string') return inLine(value);
  const text = shown(value);
  return text.length > textMax ? `${text.slice(0, textMax - 1)}…` : text;
}

/**
 * Whether a key of the items is a column: its values fit into a line, and tell the items apart from nothing.
 * @param {string} key
 * @param {any[]} rows
 */
function isColumn(key, rows) {
  const values = rows.map(({ [key]: value }) => value).filter((value) => value !== null && value !== undefined);
  // The site or form that all of them belong to.
  if (['site_id', 'form_id'].includes(key) && new Set(values).size < 2) return false;
  // The answers of visitors; the fields of a form are a list of structures.
  if (key === 'fields') return values.every((value) => isStructure(value) && !Array.isArray(value));
  return values.every((value) =>
    isStructure(value)
      ? !Array.isArray(value) && leading.includes(key) && nameIn(value) !== undefined
      : [...texts, whole, 'next_action'].includes(key) || !/^.{101}|\n/s.test(String(value)),
  );
}

/**
 * Prints the items of a list, and how to get more.
 * @param {{ items: any[], next_cursor: string | null }} list
 */
export function showList({ items, next_cursor }) {
  if (items.length === 0) log('The list is empty.');
  else console.log(table(items.map(rowOf)));
  if (next_cursor) log(`→ for more, add --cursor ${plain(next_cursor)}`);
}

/** @param {any[]} rows */
function table(rows) {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => isColumn(key, rows));
  /** A column without any value says nothing. @param {string} key */
  const isFilled = (key) => rows.some(({ [key]: value }) => value !== null && value !== undefined);
  const ordered = [...leading.filter((key) => keys.includes(key)), ...keys.filter((key) => !leading.includes(key))];
  const chosen = ordered.filter(isFilled).slice(0, columnsMax);
  const columns = [...chosen.filter((key) => key !== whole), ...chosen.filter((key) => key === whole)];
  const cells = rows.map((row) => columns.map((key) => cellOf(key, row[key])));
  const widths = columns.map((key, at) =>
    Math.min(64, Math.max(key.length, ...cells.map((row) => row[at]?.length ?? 0))),
  );
  /** @param {string[]} row */
  const line = (row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return [strong(line(columns.map(shown))), ...cells.map(line)].join('\n');
}
