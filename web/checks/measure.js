// What can be seen to be wrong with a page, measured in the page. `measure()` returns a list of findings:
// { kind, selector, text, area, more }. It runs in a world of its own, so scripts of the page cannot change what it calls.

// biome-ignore lint/correctness/noUnusedVariables: activities/rendering/check-page.ts calls it
async function measure() {
  /** @typedef {{ x: number, y: number, width: number, height: number }} Area */
  /** @typedef {{ kind: string, selector: string | null, text: string, area: Area | null, more: Record<string, unknown> }} Found */

  const ofKindMax = 12;
  /** Links and pictures that the caller looks up; most are right. */
  const lookedUpMax = 200;
  const nameMax = 60;
  const pathMax = 2_000;
  const elementsMax = 20_000;
  const textMax = 120;
  const root = document.documentElement;
  /** @type {Found[]} */
  const found = [];

  /** @param {Element} element */
  const areaOf = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x: x + scrollX, y: y + scrollY, width, height };
  };

  /** @param {Element} element @returns {string} */
  const selectorOf = (element) => {
    const parts = [];
    for (
      let at = /** @type {Element | null} */ (element);
      at && at !== root && parts.length < 4;
      at = at.parentElement
    ) {
      const name = at.localName;
      if (name.length > nameMax) break;
      if (at.id && at.id.length <= nameMax && /^[\w-]+$/.test(at.id)) {
        parts.unshift(`#${at.id}`);
        break;
      }
      const same = at.parentElement ? [...at.parentElement.children].filter((one) => one.localName === name) : [];
      parts.unshift(same.length > 1 ? `${name}:nth-of-type(${same.indexOf(at) + 1})` : name);
    }
    return parts.join(' > ') || 'html';
  };

  /** @param {string | null | undefined} text */
  const short = (text) => (text ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, textMax);

  /** @param {string} kind @param {Element | null} element @param {string} text @param {Record<string, unknown>} more */
  const add = (kind, element, text, more = {}) => {
    const max = kind === 'link' || kind === 'large_picture' ? lookedUpMax : ofKindMax;
    if (found.filter((one) => one.kind === kind).length >= max) return;
    found.push({
      kind,
      selector: element && selectorOf(element),
      text: short(text),
      area: element && areaOf(element),
      more,
    });
  };

  /** @param {string} text */
  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };

  /** @param {Element} element */
  const isVisible = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };

  const elements = [...document.querySelectorAll('body *')].slice(0, elementsMax);

  // Wider than the window.
  const wide = root.clientWidth;
  /** @param {Element} element */
  const isCut = (element) => {
    for (let at = element.parentElement; at && at !== root; at = at.parentElement) {
      if (at !== document.body && getComputedStyle(at).overflowX !== 'visible') return true;
    }
    return false;
  };
  const scrolls = !/hidden|clip/.test(
    getComputedStyle(root).overflowX + getComputedStyle(document.body ?? root).overflowX,
  );
  // A phone lays out a page without this element as a desk would, and shows it small.
  if (screen.width < 600 && wide > screen.width + 1 && !document.querySelector('meta[name=viewport]'))
    add('overflow', null, `laid out ${wide} px wide`, { needsViewport: true });
  else if (root.scrollWidth > wide + 1 && scrolls) {
    const beyond = elements.filter((one) => {
      const { right, width } = one.getBoundingClientRect();
      return width > 0 && right + scrollX > wide + 1 && isVisible(one) && !isCut(one);
    });
    const outermost = beyond.filter((one) => !beyond.includes(/** @type {Element} */ (one.parentElement)));
    for (const one of outermost.slice(0, 3))
      add('overflow', one, one.textContent || one.localName, { by: Math.round(root.scrollWidth - wide) });
    if (outermost.length === 0)
      add('overflow', null, `${root.scrollWidth} px wide`, { by: Math.round(root.scrollWidth - wide) });
  }

  // Text under 12 px.
  for (const one of elements) {
    const own = [...one.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
    const text = short(own.map(({ nodeValue }) => nodeValue).join(' '));
    if (text.length < 2 || /^(?:script|style|noscript|template|sup|sub)$/.test(one.localName)) continue;
    const size = Number.parseFloat(getComputedStyle(one).fontSize);
    const { width, height } = one.getBoundingClientRect();
    // What is a pixel large is there for screen readers only.
    // Of size 0 is text that an icon replaces.
    if (size > 0 && size < 12 && width > 2 && height > 2 && isVisible(one) && !one.closest('svg, [aria-hidden=true]'))
      add('small_text', one, text, { size: Math.round(size * 10) / 10 });
  }

  // Pictures.
  for (const one of document.images) {
    const url = one.currentSrc || one.src;
    if (!url.startsWith('http') && !url.startsWith('data:')) continue;
    // An address that is none leads nowhere else.
    const isHere = url.startsWith('data:') || !URL.canParse(url) || new URL(url).origin === location.origin;
    if (isHere && one.complete && one.naturalWidth === 0 && url !== location.href) add('broken_picture', one, url);
    else if (isHere && one.naturalWidth > 0 && isVisible(one))
      add('large_picture', one, url, {
        natural: one.naturalWidth,
        shown: Math.round(one.getBoundingClientRect().width),
      });
  }

  // Links within the site, for the caller to look up; and places on this page.
  const paths = new Set();
  for (const one of document.querySelectorAll('a[href], area[href]')) {
    const written = one.getAttribute('href') ?? '';
    const url = URL.canParse(written, document.baseURI) ? new URL(written, document.baseURI) : null;
    if (!url || url.origin !== location.origin) continue;
    const isThisPage = url.pathname === location.pathname && url.search === location.search;
    if (!isThisPage) {
      if (paths.has(url.pathname) || url.pathname.length > pathMax) continue;
      paths.add(url.pathname);
      add('link', one, short(one.textContent) || url.pathname, { path: url.pathname });
    } else if (url.hash.length > 1 && url.hash !== '#top' && !url.hash.startsWith('#:~:')) {
      const name = decoded(url.hash.slice(1));
      if (!document.getElementById(name) && document.getElementsByName(name).length === 0 && !/[/=!]/.test(name))
        add('broken_link', one, `${short(one.textContent)} (${url.hash})`, { target: url.hash });
    } else if (written === '#' && document.scripts.length === 0)
      add('broken_link', one, `${short(one.textContent)} (#)`, { target: '#' });
  }

  // About the page as a whole.
  const content = (/** @type {string} */ name) => {
    const meta = document.querySelector(`meta[name="${name}" i], meta[property="${name}" i]`);
    return short(meta?.getAttribute('content'));
  };
  const isListed = !/noindex/i.test(content('robots'));
  if (!short(document.title)) add('no_title', null, '');
  if (!root.lang) add('no_language', null, '');
  if (isListed && !content('description'))
    add('no_description', null, '', { isEmpty: !!document.querySelector('meta[name=description i]') });
  if (isListed && !content('og:image')) add('no_share_image', null, '');

  // Moves of what was shown already.
  const shifts = await new Promise((/** @type {(entries: any[]) => void} */ done) => {
    const observer = new PerformanceObserver((list) => done(list.getEntries()));
    observer.observe({ type: 'layout-shift', buffered: true });
    setTimeout(done, 300, []);
  });
  const moved = shifts.filter(({ hadRecentInput }) => !hadRecentInput);
  const score = moved.reduce((sum, { value }) => sum + value, 0);
  if (score > 0.1) {
    const worst = moved
      .toSorted((a, b) => b.value - a.value)[0]
      ?.sources?.find((/** @type {any} */ one) => one.node)?.node;
    const element = worst instanceof Element ? worst : (worst?.parentElement ?? null);
    add('layout_shift', element, short(element?.textContent), { score: Math.round(score * 1000) / 1000 });
  }
  return found;
}
