import { type Entry, folderMode, type PackBuilder } from './pack-builder.ts';

/** A push made to use more time or memory than its size. */
export type HostileRepository = {
  /** Ends the sentence "a push of …". */
  what: string;
  /** Writes the objects. Returns the new tip of main, or the tips of several branches, or the whole pack. */
  build(pack: PackBuilder, head: string): string | { tips?: Record<string, string>; pack?: Buffer };
  /** What the terminal shows; `ok` if the push is accepted. */
  says: RegExp;
  /** Also part of `npm test`. */
  brief?: true;
};

export const accepted = /unpack ok[\s\S]*ok refs\/heads\/main/;
/** Refused because of the time or the memory that it takes, or by git itself. */
export const stopped = /computing time or memory|unpack (?!ok)|decompresses to more/;

const names = (width: number) => Array.from({ length: width }, (_, at) => `d${String(at).padStart(6, '0')}`);

/** The same object under many names. */
export const copies = (oid: string, width: number, mode?: string): Entry[] =>
  names(width).map((name) => ({ name, oid, ...(mode ? { mode } : {}) }));

/** Folders inside each other, each `width` times in the one above it. */
export function nest(pack: PackBuilder, inner: string, levels: number, width: number): string {
  let tree = inner;
  for (let level = 0; level < levels; level++) tree = pack.tree(copies(tree, width, folderMode));
  return tree;
}

/** A list of numbers below `length`. */
export const range = (length: number): number[] => [...Array(length).keys()];
