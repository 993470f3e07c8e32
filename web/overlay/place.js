// Where a comment stands on a page: how a place is described, and how it is found again after a rebuild.

const quoteLength = 200;
const selectorLength = 1000;
const elementsMax = 5000;

/** What the element says, in one line: its text, or what stands for it. At most 200 characters. */
export function words(element) {
  const text =
    element.localName === 'img' ? element.alt || fileName(element.currentSrc || element.src) : textOf(element);
  const said = text || element.getAttribute('aria-label') || element.getAttribute('placeholder') || '';
  return said.replace(/\s+/g, ' ').trim().slice(0, quoteLength).toWellFormed().trim();
}

// Lines that a build has joined, as `Good wood,<br>cut to fit`, are no one word.
const parts =
  /^(br|p|div|li|h[1-6]|t[dhr]|d[dt]|section|article|header|footer|blockquote|figcaption|pre|option|button)$/;

function textOf(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  let text = '';
  while (walker.nextNode() && text.length < 10 * quoteLength) {
    const { currentNode: node } = walker;
    text += node.nodeType === Node.TEXT_NODE ? node.data : parts.test(node.localName) ? ' ' : '';
  }
  return text;
}

function fileName(address) {
  if (address.startsWith('data:')) return '';
  // Without the hash that a build puts into it.
  return (address.split(/[?#]/)[0].split('/').at(-1) ?? '').split('.')[0];
}

/** A selector of this element alone, from the nearest ancestor with an id. */
export function selectorOf(element) {
  const steps = [];
  for (let at = element; at && at !== document.documentElement; at = at.parentElement) {
    if (at.id && document.querySelectorAll(`#${CSS.escape(at.id)}`).length === 1) {
      steps.unshift(`#${CSS.escape(at.id)}`);
      break;
    }
    steps.unshift(step(at));
  }
  const selector = steps.join(' > ') || 'html';
  return selector.length <= selectorLength ? selector : step(element);
}

function step(element) {
  const name = CSS.escape(element.localName);
  const alike = [...(element.parentElement?.children ?? [])].filter((one) => one.localName === element.localName);
  return alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(element) + 1})` : name;
}

/**
 * The element that the place means now: by its selector where its words are still there; else the one with the words; else what the
 * selector means, with other words (`changed`); else undefined. `isOurs` says what belongs to the overlay.
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

function query(selector) {
  try {
    return document.querySelector(selector);
  } catch {
    return null;
  }
}

const tagOf = (selector) => /([a-z][a-z0-9-]*)[^\s>]*$/.exec(selector ?? '')?.[1];

function findWords(quote, { tag, y, isOurs }) {
  const all = [...document.body.querySelectorAll('*')].slice(0, elementsMax);
  const shown = all.filter((one) => !/^(script|style|template|noscript)$/.test(one.localName) && !isOurs(one));
  const said = new Map(shown.map((one) => [one, words(one)]));
  const same = shown.filter((one) => said.get(one) === quote);
  // A few words may stand anywhere; a sentence is looked for inside longer texts too.
  const holding = same.length > 0 || quote.length < 12 ? same : shown.filter((one) => said.get(one).includes(quote));
  // The innermost of those that hold each other.
  const inner = holding.filter((one) => !holding.some((other) => other !== one && one.contains(other)));
  const alike = (same.length > 0 ? holding : inner).filter((one) => one.localName === tag);
  const among = alike.length > 0 ? alike : inner;
  const distance = (one) => Math.abs(one.getBoundingClientRect().top + scrollY - (y ?? 0));
  return among.sort((one, other) => distance(one) - distance(other))[0];
}

/** Describes a point of the page, or the middle of an element, for the overlay to send. */
export function describe(element, point) {
  const box = element.getBoundingClientRect();
  const { x, y } = point ?? { x: box.left + box.width / 2, y: box.top + Math.min(box.height / 2, innerHeight / 2) };
  const share = (value) => Math.min(1, Math.max(0, Number.isFinite(value) ? value : 0));
  return {
    selector: selectorOf(element),
    quote: words(element),
    x: Math.round(x + scrollX),
    y: Math.round(y + scrollY),
    within: { x: share((x - box.left) / box.width), y: share((y - box.top) / box.height) },
    viewport: { width: innerWidth, height: innerHeight },
  };
}
