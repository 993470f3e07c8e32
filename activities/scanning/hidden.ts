/** XML in which browsers see what its text does not say: entities and attributes of its own, stylesheets, other encodings. */

const keptBack = 100;
const own = /<!(?:ENTITY|ATTLIST)|<!DOCTYPE[^<>[]*\[|<\?xml-stylesheet|\0/i;
const encoded = /^\s*<\?xml[^<>]*\bencoding\s*=\s*["'](?!utf-8["']|us-ascii["'])/i;
/** Names of characters are read from other files; without a DOCTYPE, browsers read nothing after one. */
const character = /&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z_:][\w.:-]{0,40};/;

/** A reader of the text in slices, which answers whether something may be hidden in what it has seen so far. */
export function createHiddenMarkupDetector(): (slice: string) => boolean {
  let tail = '';
  let isFirst = true;
  let [hides, typed, named] = [false, false, false];
  return (slice) => {
    const text = tail + slice;
    hides ||= own.test(text) || (isFirst && encoded.test(text));
    typed ||= /<!DOCTYPE/i.test(text);
    named ||= character.test(text);
    tail = text.slice(-keptBack);
    isFirst &&= slice === '';
    return hides || (typed && named);
  };
}
