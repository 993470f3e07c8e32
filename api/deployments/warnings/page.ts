/** Facts and links of one page of a built site. Its bytes are untrusted data: nothing is run or fetched, and reading is bounded. */
import { setImmediate as othersTurn } from 'node:timers/promises';
import { Parser } from 'htmlparser2';

export type PageFacts = {
  hasTitle: boolean;
  imagesWithoutAlt: number;
  /** Addresses as written; only the first `linksMax` of them. */
  links: Set<string>;
  /** Addresses that the page's forms send to, and the ids of forms that our element shows. */
  actions: Set<string>;
  forms: Set<string>;
  /** Placeholders of a template, in double square brackets: the owner's own text replaces them. */
  templateTexts: Set<string>;
  base: string | undefined;
  /** Whether the page was read to its end. */
  whole: boolean;
};

const bytesMax = 1024 * 1024;
const linksMax = 500;
const linkLengthMax = 2_000;
const formsMax = 50;
const templateTextsMax = 100;
const textBytesMax = 4_096;
// A letter follows the brackets, unlike in shell scripts and in links of wikis.
const templateText = /\[\[(\p{L}[^[\]]{0,200})\]\]/gu;
/** Attributes that a visitor reads, hears, or sees in search results. */
const readAttributes = ['alt', 'title', 'aria-label', 'content', 'placeholder'];
/** Their text is not written for visitors, or is an example. */
const unread = new Set(['script', 'style', 'code', 'pre', 'template', 'textarea']);
// Beyond this the parser's work grows with the square of the page's size.
const depthMax = 512;

/** Attributes whose target has to exist, by element. */
const leading: Record<string, readonly string[]> = {
  a: ['href'],
  area: ['href'],
  link: ['href'],
  img: ['src', 'srcset'],
  source: ['src', 'srcset'],
  script: ['src'],
  iframe: ['src'],
  video: ['src', 'poster'],
  audio: ['src'],
  track: ['src'],
  embed: ['src'],
};

/** Reads up to 1 MiB of the page. */
export async function readPage(content: AsyncIterable<Buffer>): Promise<PageFacts> {
  const facts = noFacts();
  const parser = createPageParser(facts);
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > bytesMax || parser.depth() > depthMax) {
      facts.whole = false;
      break;
    }
    // In pieces, so that depth is checked and other work runs in the middle of a large page.
    for (let at = 0; at < chunk.length && parser.depth() <= depthMax; at += 16_384) {
      await othersTurn();
      parser.write(decoder.decode(chunk.subarray(at, at + 16_384), { stream: true }));
    }
  }
  if (facts.whole && parser.depth() <= depthMax) parser.end();
  else facts.whole = false;
  return facts;
}

const noFacts = (): PageFacts => ({
  hasTitle: false,
  imagesWithoutAlt: 0,
  links: new Set(),
  actions: new Set(),
  forms: new Set(),
  templateTexts: new Set(),
  base: undefined,
  whole: true,
});

/** A parser that adds to `facts`. */
function createPageParser(facts: PageFacts) {
  const inside = { depth: 0, title: false, drawing: 0, unread: 0, text: '' };
  // A text arrives in pieces, and ends with the next tag.
  const endText = () => {
    addTemplateTexts(facts, inside.text);
    inside.text = '';
  };
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        endText();
        inside.depth += 1;
        if (unread.has(name)) inside.unread += 1;
        if (name === 'svg') inside.drawing += 1;
        if (name === 'title' && inside.drawing === 0) inside.title = true;
        addElement(facts, name, attributes);
      },
      ontext(text) {
        if (inside.title && text.trim() !== '') facts.hasTitle = true;
        if (inside.unread === 0 && inside.text.length < textBytesMax) inside.text += text;
      },
      onclosetag(name) {
        endText();
        inside.depth -= 1;
        if (unread.has(name)) inside.unread = Math.max(0, inside.unread - 1);
        if (name === 'title') inside.title = false;
        if (name === 'svg') inside.drawing = Math.max(0, inside.drawing - 1);
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  return {
    depth: () => inside.depth,
    write: (text: string) => parser.write(text),
    end: () => parser.end(),
  };
}

function addTemplateTexts(facts: PageFacts, text: string): void {
  if (!text.includes('[[')) return;
  for (const [, words = ''] of text.matchAll(templateText))
    if (facts.templateTexts.size < templateTextsMax) facts.templateTexts.add(words.replace(/\s+/g, ' ').trim());
}

function addElement(facts: PageFacts, name: string, attributes: Record<string, string>): void {
  for (const read of readAttributes) addTemplateTexts(facts, attributes[read] ?? '');
  if (name === 'base' && facts.base === undefined && attributes.href) facts.base = attributes.href;
  if (name === 'img' && attributes.alt === undefined && !isHidden(attributes)) facts.imagesWithoutAlt += 1;
  for (const link of linksOf(name, attributes)) if (facts.links.size < linksMax) facts.links.add(link);
  const { form, action = name === 'form' ? undefined : attributes.formaction } = attributes;
  if (/^(form|button|input)$/.test(name)) addUpTo(facts.actions, action);
  if (name === 'frontage-form') addUpTo(facts.forms, form);
}

function addUpTo(all: Set<string>, address: string | undefined): void {
  if (address && address.length <= linkLengthMax && all.size < formsMax) all.add(address.trim());
}

/** A decorative picture that screen readers skip needs no text. */
function isHidden(attributes: Record<string, string>): boolean {
  return attributes['aria-hidden'] === 'true' || attributes.role === 'presentation' || attributes.role === 'none';
}

function* linksOf(name: string, attributes: Record<string, string>): Generator<string> {
  const names = Object.hasOwn(leading, name) ? leading[name] : undefined;
  // Links from which nothing is fetched: hints for other hosts, and alternate representations of the page.
  if (!names || (name === 'link' && /\b(preconnect|dns-prefetch)\b/i.test(attributes.rel ?? ''))) return;
  for (const attribute of names) {
    const value = attributes[attribute];
    if (value === undefined) continue;
    const links = attribute === 'srcset' ? candidates(value) : [value];
    for (const link of links) if (link.length <= linkLengthMax) yield link.trim();
  }
}

/** The addresses of a srcset without their widths (HTML standard, section 4.8.4.2.1, for addresses without commas). */
function candidates(srcset: string): string[] {
  return srcset
    .slice(0, 20_000)
    .split(/,\s/)
    .map((candidate) => candidate.trim().split(/\s/, 1)[0] ?? '');
}
