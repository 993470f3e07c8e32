/** Edits of text files: words are found and replaced. Pure. */
import { printable } from '#providers/paths.ts';
import type { Branch } from '#providers/repositories.ts';
import { call } from '#rules/calls/calls.ts';
import { errors } from '#runtime/errors.ts';

export type Edit = { find: string; replace: string };

/** A file by its path in the site, and the branch that has it, if that is not `main`. */
export type Place = { path: string; ref: Branch | undefined };

/** The text after all edits, in order. Throws `edit_mismatch` for words that do not occur exactly once. */
export function applyEdits(place: Place, text: string, edits: readonly Edit[]): string {
  return edits.reduce((edited, { find, replace }, index) => {
    const at = edited.indexOf(find);
    const count = occurrences(edited, find);
    if (count !== 1) throw mismatch(place, `the words of edit ${index + 1} occur ${times(count)}, not exactly once`);
    return edited.slice(0, at) + replace + edited.slice(at + find.length);
  }, text);
}

/** `what` says why the file cannot be edited. */
export function mismatch({ path, ref }: Place, what: string) {
  return errors.edit_mismatch(`In ${printable(path)}, ${what}. Nothing was changed.`, {
    nextAction: `Read the file with ${call('source.files', { path, ref })}, and copy more of the words around the place into find.`,
  });
}

/** Overlapping ones count too, because each of them could be meant. */
function occurrences(text: string, words: string): number {
  let count = 0;
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + 1)) count += 1;
  return count;
}

const times = (count: number): string => (count === 0 ? 'nowhere' : `${count} times`);
