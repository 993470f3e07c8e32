/**
 * The place of a comment on a page: how it is described, and how it is found again after a rebuild.
 * @typedef {{ x: number, y: number }} Point
 * @typedef {{ selector?: string | null, quote?: string | null, x?: number | null, y?: number | null, within?: Point | null }} Position
 * @typedef {(node: Node) => boolean} IsOurs Whether a node belongs to the overlay.
 */

const quoteLength = 200;
const selectorLength = 1000;
const elementsMax = 5000;

/**
 * The element's text, or its alternative text, in one line of at most 200 characters.
 * @param {Element} element
 */
export function words(element) {
  const text =
    element instanceof HTMLImageElement ? element.alt || fileName(element.currentSrc || element.src) : textOf(element);
  const said = text || element.getAttribute('aria-label') || element.getAttribute('placeholder') || '';
  return said.replace(/\s+/g, ' ').trim().slice(0, quoteLength).toWellFormed().trim();
}

// Words on two sides of these are separate, as in `Good wood,<br>cut to fit`.
const parts =
  /^(br|p|div|li|h[1-6]|t[dhr]|d[dt]|section|article|header|footer|blockquote|figcaption|pre|option|button)$/;

/** @param {Element} element */
function textOf(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  let text = '';
  while (walker.nextNode() && text.length < 10 * quoteLength) {
    const { currentNode: node } = walker;
    if (node instanceof Text) text += node.data;
    else if (node instanceof Element && parts.test(node.localName)) text += ' ';
  }
  return text;
}

/** @param {string} address */
function fileName(address) {
  if (address.startsWith('data:')) return '';
  // Without the hash that a build adds.
  const [path = ''] = address.split(/[?#]/);
  return path.split('/').at(-1)?.split('.')[0] ?? '';
}

/**
 * A selector of this element alone, from the nearest ancestor with an id.
 * @param {Element} element
 */
function selectorOf(element) {
  const steps = [];
  /** @type {Element | null} */
  let at = element;
  for (; at && at !== document.documentElement; at = at.parentElement) {
    if (at.id && document.querySelectorAll(`#${CSS.escape(at.id)}`).length === 1) {
      steps.unshift(`#${CSS.escape(at.id)}`);
      break;
    }
    steps.unshift(step(at));
  }
  const selector = steps.join(' > ') || 'html';
  return selector.length <= selectorLength ? selector : step(element);
}

/** @param {Element} element */
function step(element) {
  const name = CSS.escape(element.localName);
  const alike = [...(element.parentElement?.children ?? [])].filter((one) => one.localName === element.localName);
  return alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(element) + 1})` : name;
}

/**
 * The element at the place now: found by its selector if its text is unchanged; else by its text; else by its selector with another text
 * (`changed`); else undefined.
 * @param {Position} position
 * @param {IsOurs} isOurs
 * @returns {{ element: Element, how: 'selector' | 'quote' | 'changed' } | undefined}
 */
export function find({ selector, quote, y }, isOurs = () => false) {
  const at = selector ? query(selector) : null;
  const found = at && !isOurs(at) ? at : null;
  if (found && (!quote || words(found) === quote)) return { element: found, how: 'selector' };
  const moved = quote ? findWords(quote, { tag: tagOf(selector), y, isOurs }) : undefined;
  if (moved) return { element: moved, how: 'quote' };
  return found && found !== document.documentElement && found !== document.body
    ? { element: found, how: 'changed' }
    : undefined;
}

/** @param {string} selector */
function query(selector) {
  try {
    return document.querySelector(selector);
  } catch {
    return null;
  }
}

/** @param {string | null | undefined} selector */
const tagOf = (selector) => /([a-z][a-z0-9-]*)[^\s>]*$/.exec(selector ?? '')?.[1];

/**
 * @param {string} quote
 * @param {{ tag: string | undefined, y: number | null | undefined, isOurs: IsOurs }} options
 */
function findWords(quote, { tag, y, isOurs }) {
  const all = [...document.body.querySelectorAll('*')].slice(0, elementsMax);
  const shown = all.filter((one) => !/^(script|style|template|noscript)$/.test(one.localName) && !isOurs(one));
  const said = new Map(shown.map((one) => [one, words(one)]));
  const same = shown.filter((one) => said.get(one) === quote);
  // A few words may occur anywhere; a sentence is also looked for inside longer texts.
  const holding = same.length > 0 || quote.length < 12 ? same : shown.filter((one) => said.get(one)?.includes(quote));
  // The innermost of those that contain each other.
  const inner = holding.filter((one) => !holding.some((other) => other !== one && one.contains(other)));
  const alike = (same.length > 0 ? holding : inner).filter((one) => one.localName === tag);
  const among = alike.length > 0 ? alike : inner;
  const distance = (/** @type {Element} */ one) => Math.abs(one.getBoundingClientRect().top + scrollY - (y ?? 0));
  return among.sort((one, other) => distance(one) - distance(other))[0];
}

/**
 * Describes a point of an element, or its middle.
 * @param {Element} element
 * @param {Point} [point]
 */
export function describe(element, point) {
  const box = element.getBoundingClientRect();
  const { x, y } = point ?? { x: box.left + box.width / 2, y: box.top + Math.min(box.height / 2, innerHeight / 2) };
  const share = (/** @type {number} */ value) => Math.min(1, Math.max(0, Number.isFinite(value) ? value : 0));
  return {
    selector: selectorOf(element),
    quote: words(element),
    x: Math.round(x + scrollX),
    y: Math.round(y + scrollY),
    within: { x: share((x - box.left) / box.width), y: share((y - box.top) / box.height) },
    viewport: { width: innerWidth, height: innerHeight },
  };
}
