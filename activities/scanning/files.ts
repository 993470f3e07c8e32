/** The bytes of one file at a time: what it is read as, and for how long. */
import { setImmediate as othersTurn } from 'node:timers/promises';
import { contentTypeOf } from '#providers/media-types.ts';
import { noScript, overlap, pieceMax, readScript, type ScriptFacts } from './scripts.ts';

/** A file takes longer than one may. */
export class ScanTimeout extends Error {}

/** What browsers make a page of, by the type that edges serve: HTML, and all XML, in which scripts and forms may stand. */
export const isPage = (path: string): boolean => contentTypeOf(path).startsWith('text/html') || isXml(path);
export const isXml = (path: string): boolean => /xml$/.test(typeOf(path));
/** What browsers run: edges forbid them to guess, so that nothing of another type is. */
export const isScript = (path: string): boolean => /\/(?:x-)?(?:java|ecma|j)script/.test(typeOf(path));

const typeOf = (path: string): string => contentTypeOf(path).split(';', 1)[0] ?? '';

/** Beats as `beat` does, and throws `TooLong` once `ms` have gone by. */
export function withTimeLimit(ms: number, elapsed: () => number, beat: () => void): () => void {
  const end = elapsed() + ms;
  return () => {
    beat();
    if (elapsed() > end) throw new ScanTimeout();
  };
}

export async function scanScript(content: AsyncIterable<Buffer>, beat: () => void): Promise<ScriptFacts> {
  const facts = noScript();
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of content) {
    beat();
    text += decoder.decode(chunk, { stream: true });
    if (text.length < pieceMax) continue;
    await othersTurn();
    readScript(facts, text);
    text = text.slice(-overlap);
  }
  readScript(facts, text);
  return facts;
}
