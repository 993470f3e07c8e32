/**
 * The overlay's script in the page: the platform's frame, pins, and choosing a place. It has no key and sends no comment: the frame does.
 * Any script of the page can do what this one does, so the frame does not trust it.
 */
import { startPicking } from './pick.js';
import { createPins } from './pins.js';
import { describe } from './place.js';
import { makeRoom, reveal } from './reveal.js';

/** @type {HTMLScriptElement | null} */
const script = document.querySelector('script[data-frontage-frame]');
const address = script?.dataset.frontageFrame;

/** @param {URL} frameUrl */
function start(frameUrl) {
  const root = host('frontage-overlay', windowStyle);
  const pinRoot = host('frontage-pins', pinStyle);
  const isOurs = (/** @type {Node} */ node) => root.host === node || pinRoot.host === node;
  const frame = addFrame(root, frameUrl);
  const pane = createPane(root, frame);
  let page = location.pathname;

  /** @type {Tell} */
  const tell = (message, transferred = []) =>
    frame.contentWindow?.postMessage({ frontage: message }, frameUrl.origin, transferred);
  const picker = createPicker(root, { frame, isOurs, tell, onPicked: pane.choose });
  const pins = createPins(pinRoot, {
    isOurs,
    onOpen: (n) => tell({ type: 'opened', n }),
    onPlaced: (places) => tell({ type: 'placed', places }),
    // Some sites change pages without loading them.
    onChange: () => location.pathname !== page && tellPage(),
  });

  function tellPage() {
    page = location.pathname;
    tell({ type: 'page', page });
  }

  /** @type {Record<string, (message: any) => void>} */
  const handlers = {
    ready: tellPage,
    size: ({ mode }) => pane.resize(mode),
    pins: ({ list, active }) => pins.set(Array.isArray(list) ? list : [], active),
    show: ({ n }) => pane.show(pins.placeOf(n)),
    pick: picker.start,
    stop: picker.stop,
    go: ({ page: to }) => {
      if (/^\/(?![/\\])/.test(to)) location.assign(to);
    },
    leave: () => location.assign(`/.frontage/leave?to=${encodeURIComponent(location.pathname)}`),
  };

  addEventListener('message', ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== frameUrl.origin) return;
    const message = data?.frontage;
    if (message && Object.hasOwn(handlers, message.type)) handlers[message.type]?.(message);
  });
}

/**
 * The frame's size. While it is open on a phone, the place of the comment stays in view above it.
 * @typedef {{ element: Element, within?: import('./place.js').Point | null }} Place
 * @param {ShadowRoot} root
 * @param {HTMLIFrameElement} frame
 */
function createPane(root, frame) {
  const room = root.appendChild(document.createElement('div'));
  /** @type {Place | undefined} The place that was chosen last. */
  let chosen;

  /** @param {Place | undefined} place */
  function show(place) {
    if (place) reveal(frame, place.element, place.within);
  }

  return {
    show,
    /** @param {Place} place */
    choose(place) {
      chosen = place;
    },
    /** @param {string} mode */
    resize(mode) {
      frame.className = ['pill', 'wide', 'card', 'panel'].includes(mode) ? mode : 'pill';
      makeRoom(room, frame);
      if (mode === 'panel') show(chosen);
      chosen = undefined;
    },
  };
}

/**
 * @param {ShadowRoot} root
 * @param {URL} url
 */
function addFrame(root, url) {
  url.searchParams.set('origin', location.origin);
  // On the first page after the review link: the number of open comments.
  const { frontageOpen } = script?.dataset ?? {};
  if (frontageOpen) url.searchParams.set('open', frontageOpen);
  const frame = document.createElement('iframe');
  frame.title = 'Comments on this page';
  // Above the bar of a preview.
  if (document.querySelector('frontage-draft'))
    /** @type {HTMLElement} */ (root.host).style.setProperty('--below', '34px');
  frame.className = 'pill';
  frame.src = url.href;
  root.append(frame);
  return frame;
}

/**
 * Lets the reviewer choose a place, and sends the frame its position and picture.
 * @typedef {(message: object, transferred?: Transferable[]) => void} Tell
 * @param {ShadowRoot} root
 * @param {{
 *   frame: HTMLIFrameElement,
 *   isOurs: import('./place.js').IsOurs,
 *   tell: Tell,
 *   onPicked: (place: Place) => void,
 * }} options
 */
function createPicker(root, { frame, isOurs, tell, onPicked }) {
  let endPicking = () => {};
  let shots = 0;

  /**
   * @param {Element} element
   * @param {import('./place.js').Point} [point]
   */
  async function picked(element, point) {
    const position = describe(element, point);
    onPicked({ element, within: position.within });
    const shot = ++shots;
    tell({ type: 'picked', position, shot });
    frame.focus();
    const { takePicture } = await import('./picture.js');
    const picture = await takePicture(position, isOurs);
    tell({ type: 'picture', shot, ...picture }, picture.bytes ? [picture.bytes] : []);
  }

  return {
    start() {
      endPicking();
      endPicking = startPicking(root, {
        isOurs,
        onPick: (element, point) => void picked(element, point),
        onCancel: () => tell({ type: 'cancelled' }),
      });
    },
    stop: () => endPicking(),
  };
}

/**
 * Adds an element whose shadow root the page's style does not affect.
 * @param {string} name
 * @param {string} style
 */
function host(name, style) {
  const element = document.createElement(name);
  element.style.cssText = 'all: initial !important; display: block !important; position: static !important;';
  const root = element.attachShadow({ mode: 'open' });
  const sheet = document.createElement('style');
  // The page's policy may allow no other styles.
  if (script?.nonce) sheet.nonce = script.nonce;
  sheet.textContent = style;
  root.append(sheet);
  document.documentElement.append(element);
  return root;
}

const windowStyle = `
iframe {
  position: fixed; z-index: 2147483647; right: 16px; bottom: calc(16px + var(--below, 0px)); border: 0; margin: 0;
  background: #fffdf9; color-scheme: light; box-shadow: 0 2px 6px rgb(0 0 0 / 18%), 0 10px 32px rgb(0 0 0 / 22%);
}
.pill { width: 216px; height: 52px; border-radius: 26px; }
.wide { width: min(340px, calc(100vw - 32px)); height: 52px; border-radius: 26px; }
.card { width: min(384px, calc(100vw - 32px)); height: 304px; border-radius: 16px; }
.panel { width: 384px; height: min(620px, calc(100dvh - 32px)); border-radius: 16px; }
@media (max-width: 640px) {
  .panel { right: 0; bottom: 0; width: 100%; height: min(60dvh, 560px); border-radius: 16px 16px 0 0; }
}
.layer { position: fixed; inset: 0; z-index: 2147483646; cursor: crosshair; outline: 0; background: rgb(35 33 29 / 6%); }
.box { position: fixed; pointer-events: none; border: 2.5px solid #a8412a; border-radius: 6px; background: rgb(168 65 42 / 10%); }
.box[hidden] { display: none; }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
`;
const pinStyle = `
.pin {
  position: absolute; z-index: 2147483645; width: 28px; height: 28px; margin: -14px 0 0 -14px; padding: 0;
  border: 2px solid #fff; border-radius: 50% 50% 50% 4px; background: #a8412a; color: #fff; cursor: pointer;
  font: 600 13px/1 system-ui, sans-serif; box-shadow: 0 1px 4px rgb(0 0 0 / 40%);
}
.pin::after { content: ''; position: absolute; inset: -8px; }
.pin:hover, .pin.active { background: #23211d; }
.pin:focus-visible { outline: 3px solid #a8412a; outline-offset: 2px; }
.pin[hidden] { display: none; }
`;

if (address && top === window && !document.querySelector('frontage-overlay')) start(new URL(address));
