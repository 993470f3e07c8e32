/** Whether an SVG can execute script. Uses an XML parser: a file that it cannot parse is refused too. */
import { SaxesParser, type SaxesTagNS } from 'saxes';
import { startSlices } from '#runtime/slices.ts';
import { foreignFault } from './svg-foreign-object.ts';

const active = new Set(['script', 'iframe', 'object', 'embed', 'handler', 'listener', 'frame', 'meta', 'link', 'base']);
const svgNamespace = 'http://www.w3.org/2000/svg';
const htmlNamespace = 'http://www.w3.org/1999/xhtml';
/** Without an internal subset, so that it declares nothing. Browsers do not load the file that it names. */
const plainDoctype = /^\s+svg(\s+(PUBLIC\s+("[^"<]*"|'[^'<]*')|SYSTEM)\s+("https?:[^"<]*"|'https?:[^'<]*'))?\s*$/;
const safeData =
  /^data:(image\/(png|jpe?g|webp|gif|avif)|(application|font)\/[a-z0-9.+-]*(woff2?|ttf|otf|opentype|truetype)[a-z0-9.+-]*)[;,]/;

// The parser's work grows with the square of both.
const depthMax = 512;
const attributesMax = 1_000;
const pieceBytes = 16_384;

/** `script`: the file could execute code ("it has …"). `broken`: it is not an SVG ("its contents are …"). */
export type SvgFault = { kind: 'script' | 'broken'; what: string };

/** Reads to the end or to the first fault. Undefined for a harmless image. */
export async function svgFault(content: AsyncIterable<Buffer>): Promise<SvgFault | undefined> {
  const parser = new SaxesParser({ xmlns: true });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let fault: SvgFault | undefined;
  let root = '';
  const found = (kind: SvgFault['kind'], what: string) => {
    fault ??= { kind, what };
  };
  watchMarkup(parser, found);
  watchElements(parser, found, watchSize(parser, found), (local) => {
    root ||= local;
  });
  try {
    const pause = startSlices();
    for await (const chunk of content) {
      for (let at = 0; at < chunk.length; at += pieceBytes) {
        parser.write(decoder.decode(chunk.subarray(at, at + pieceBytes), { stream: true }));
        if (fault) return fault;
        await pause();
      }
    }
    parser.write(decoder.decode()).close();
  } catch {
    found('broken', 'are not XML encoded in UTF-8');
  }
  if (!fault && root !== 'svg') found('broken', 'have no <svg> root element');
  return fault;
}

type Parser = SaxesParser<{ xmlns: true }>;
type Found = (kind: SvgFault['kind'], what: string) => void;

/**
 * Stops the parser, which otherwise reads its whole piece, at an element that is too deep or has too many attributes.
 * Call `closed` at the end of each element: the parser has one listener for each event.
 */
function watchSize(parser: Parser, found: Found): { closed(): void } {
  let [depth, attributes] = [0, 0];
  function stop(what: string): never {
    found('broken', what);
    throw new Error('too large to parse');
  }
  parser.on('opentagstart', () => {
    attributes = 0;
    depth += 1;
    if (depth > depthMax) stop(`have elements more than ${depthMax} deep`);
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > attributesMax) stop(`have an element with more than ${attributesMax} attributes`);
  });
  return {
    closed() {
      depth -= 1;
    },
  };
}

/** Everything but elements: what declares, instructs, or reads otherwise as HTML. */
function watchMarkup(parser: Parser, found: Found): void {
  parser.on('error', () => found('broken', 'are not well-formed XML'));
  parser.on('xmldecl', ({ encoding }) => {
    // A browser decodes the file as declared, and might then find other markup in it than we did.
    if (encoding && !/^utf-?8$/i.test(encoding)) found('broken', 'are not XML encoded in UTF-8');
  });
  parser.on('doctype', (text) => {
    if (!plainDoctype.test(text)) found('script', 'has a <!DOCTYPE …> that can declare entities');
  });
  // An HTML parser ends comments and text elsewhere than an XML parser does.
  for (const part of ['comment', 'cdata'] as const) {
    parser.on(part, (text) => {
      if (text.includes('<')) found('script', `has a ${part === 'cdata' ? 'CDATA section' : part} with a “<” in it`);
    });
  }
  parser.on('processinginstruction', ({ target }) => {
    if (target !== 'xml') found('script', `has a <?${target} …> instruction`);
  });
}

function watchElements(parser: Parser, found: Found, size: { closed(): void }, onRoot: (local: string) => void): void {
  /** Open elements from a `foreignObject` on. */
  let foreignDepth = 0;
  parser.on('opentag', (tag) => {
    onRoot(tag.local);
    const what = (foreignDepth > 0 && foreignFault(tag, htmlNamespace)) || activePart(tag, foreignDepth > 0);
    if (what) found('script', what);
    if (foreignDepth > 0 || tag.local.toLowerCase() === 'foreignobject') foreignDepth += 1;
  });
  parser.on('closetag', () => {
    size.closed();
    if (foreignDepth > 0) foreignDepth -= 1;
  });
}

function activePart(tag: SaxesTagNS, isForeign: boolean): string | undefined {
  if (active.has(tag.local.toLowerCase())) return `has a <${tag.name}> element`;
  if (tag.uri === htmlNamespace && !isForeign) return `has an HTML element <${tag.name}>`;
  if (tag.local === 'svg' && tag.uri !== '' && tag.uri !== svgNamespace) return 'has an <svg> in another namespace';
  for (const attribute of Object.values(tag.attributes)) {
    const name = attribute.local.toLowerCase();
    // Browsers ignore white space and control characters inside a scheme.
    const value = attribute.value.replace(/[\p{Cc}\s]/gu, '').toLowerCase();
    if (name.startsWith('on')) return `has the event handler ${attribute.name}`;
    if (/(java|vb)script:/.test(value)) return `has a script URL in ${attribute.name}`;
    if (name === 'attributename' && /^(xlink:)?href$|^on/.test(value))
      return `animates the attribute ${attribute.value}`;
    if ((name === 'href' || name === 'src') && value.startsWith('data:') && !safeData.test(value)) {
      return `has an embedded document in ${attribute.name}`;
    }
  }
  return undefined;
}
