/** `find_operations`: operations by the words of a model. Pure. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Operation } from '#api/operations/operations.ts';
import { toolName } from '#rules/calls/calls.ts';
import { describe } from './signatures.ts';
import { isEveryday } from './tools.ts';
import { otherWords } from './words.ts';

const wordsMax = 400;

/** `operations` are those that the caller may use; `unlisted` says which are left out. */
export function findOperations(
  operations: readonly Operation[],
  input: Record<string, unknown>,
  unlisted: string | null = null,
): CallToolResult {
  const said = (text: string): CallToolResult => ({
    content: [{ type: 'text', text: unlisted ? `${text}\n\n${unlisted}` : text }],
  });
  const { words, limit = 5, offset = 0 } = input;
  const from = countOf(offset, 1000, 0);
  const wanted = typeof words === 'string' ? stems(words.slice(0, wordsMax)) : [];
  if (wanted.length === 0) return said(index(operations));
  const found = ranked(operations, wanted);
  const to = from + countOf(limit, 20, 5);
  if (found.length === 0) return said('No operation was found. Without words, this lists all of them.');
  const shown = found.slice(from, to).map(({ operation: one }) => describe(one, isEveryday(one)));
  const fit = found[to]?.score === found[0]?.score ? 'as well' : 'less well';
  const more = found.length > to ? [`${found.length - to} more fit ${fit}: the same words with offset ${to}.`] : [];
  return said([...shown, ...more].join('\n\n'));
}

const countOf = (value: unknown, max: number, usual: number): number =>
  Number.isSafeInteger(value) ? Math.min(max, Math.max(0, Number(value))) : usual;

/** Every operation by its noun, in one line each. */
function index(operations: readonly Operation[]): string {
  const byNoun = Map.groupBy(operations, ({ name }) => name.split('.', 1)[0] ?? '');
  return [...byNoun].map(([, all]) => all.map(({ name }) => toolName(name)).join(' ')).join('\n');
}

/** By how many of the words an operation has, and where. */
function ranked(
  operations: readonly Operation[],
  wanted: readonly string[],
): { operation: Operation; score: number }[] {
  return operations
    .map((operation) => ({ operation, score: scoreOf(operation, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

function scoreOf({ name, summary, description = '' }: Operation, wanted: readonly string[]): number {
  const places: [string[], number][] = [
    [stems(name), 5],
    [stems(otherWords[name] ?? ''), 4],
    [stems(summary), 3],
    [stems(description), 1],
  ];
  return wanted.reduce(
    (sum, word) => sum + Math.max(0, ...places.map(([stems, weight]) => (stems.includes(word) ? weight : 0))),
    0,
  );
}

const small = new Set([
  'a',
  'an',
  'and',
  'the',
  'of',
  'to',
  'in',
  'for',
  'my',
  'our',
  'all',
  'it',
  'is',
  'with',
  'on',
  'up',
  'by',
  's',
]);

const stems = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !small.has(word))
    .map(stem);

/** The word without its endings, so that “bookings” and “booking” find “book”, and “refunds” finds “refund”. */
function stem(word: string): string {
  const shorter = word.replace(/(?<=.{3})(ies|ing|es|ed|s|y|e)$/u, '');
  return shorter === word ? word : stem(shorter);
}
