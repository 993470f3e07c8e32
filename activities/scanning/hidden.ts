/** XML with content that its text does not show: own entities and attributes, stylesheets, other encodings. */

const keptBack = 100;
const own = /<!(?:ENTITY|ATTLIST)|<!DOCTYPE[^<>[]*\[|<\?xml-stylesheet|\0/i;
const encoded = /^\s*<\?xml[^<>]*\bencoding\s*=\s*["'](?!utf-8["']|us-ascii["'])/i;
/** Named character entities come from external files; without a DOCTYPE, browsers stop at the first. */
const character = /&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z_:][\w.:-]{0,40};/;

/** Takes the text in slices, and returns whether anything may be hidden in it so far. */
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
