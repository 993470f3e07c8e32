/** How a file is scanned, by its media type, and for how long. */
import { setImmediate as othersTurn } from 'node:timers/promises';
import { contentTypeOf } from '#providers/media-types.ts';
import { noScript, overlap, pieceMax, readScript, type ScriptFacts } from './scripts.ts';

/** The scan of a file exceeds its time limit. */
export class ScanTimeout extends Error {}

/** Files that browsers render, by the media type that edges serve: HTML, and all XML, which may contain scripts and forms. */
export const isPage = (path: string): boolean => contentTypeOf(path).startsWith('text/html') || isXml(path);
export const isXml = (path: string): boolean => /xml$/.test(typeOf(path));
/** Files that browsers execute. Edges send `nosniff`, so no other type is executed. */
export const isScript = (path: string): boolean => /\/(?:x-)?(?:java|ecma|j)script/.test(typeOf(path));

const typeOf = (path: string): string => contentTypeOf(path).split(';', 1)[0] ?? '';

/** A heartbeat that throws `ScanTimeout` once `ms` have passed. */
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
