/** Pins on open threads. They have a thread's place and number, never its text. */
import { find } from './place.js';

/**
 * Keeps a pin at each place while the page changes. `onOpen`: a pin was pressed. `onPlaced`: how each place was found. `onChange`: the page
 * changed.
 * @typedef {{ n: number, position: import('./place.js').Position }} PinShown
 * @param {ShadowRoot} root
 * @param {{
 *   isOurs: import('./place.js').IsOurs,
 *   onOpen: (n: number) => void,
 *   onPlaced: (places: { n: number, how: string }[]) => void,
 *   onChange: () => void,
 * }} options
 */
export function createPins(root, { isOurs, onOpen, onPlaced, onChange }) {
  /** @type {(PinShown & { button: HTMLButtonElement })[]} */
  let pins = [];
  let shown = '';
  let reported = '';
  let due = 0;

  /**
   * @param {PinShown[]} list
   * @param {number | null} active
   */
  function set(list, active) {
    const text = JSON.stringify([list, active]);
    if (text === shown) return;
    shown = text;
    for (const { button } of pins) button.remove();
    pins = list.map(({ n, position }) => {
      const button = root.appendChild(document.createElement('button'));
      button.className = n === active ? 'pin active' : 'pin';
      button.type = 'button';
      button.textContent = String(n);
      button.setAttribute('aria-label', `Comment ${n}`);
      button.addEventListener('click', () => onOpen(n));
      return { n, position, button };
    });
    reported = '';
    place();
  }

  function place() {
    due = 0;
    onChange();
    const taken = new Map();
    const places = pins.map(({ n, position, button }) => {
      const found = find(position, isOurs);
      const box = found?.element.getBoundingClientRect();
      button.hidden = !box || (box.width === 0 && box.height === 0);
      if (box) {
        const within = position.within ?? { x: 0, y: 0 };
        // If the text changed, the shape did too: the pin goes to the top left corner.
        const [x, y] = found?.how === 'changed' ? [0, 0] : [within.x * box.width, within.y * box.height];
        const left = clamp(box.left + x + scrollX, 14, Math.max(14, document.documentElement.scrollWidth - 14));
        const top = Math.max(14, box.top + y + scrollY);
        const key = `${Math.round(left / 12)} ${Math.round(top / 12)}`;
        const beside = taken.get(key) ?? 0;
        taken.set(key, beside + 1);
        button.style.left = `${left + beside * 16}px`;
        button.style.top = `${top}px`;
      }
      return { n, how: found?.how ?? 'lost' };
    });
    const text = JSON.stringify(places);
    if (text !== reported) onPlaced(places);
    reported = text;
  }

  const schedule = () => {
    if (due === 0) due = requestAnimationFrame(place);
  };
  for (const name of ['resize', 'scroll', 'load']) addEventListener(name, schedule, true);
  new MutationObserver((changes) => {
    if (changes.some(({ target }) => !isOurs(target))) schedule();
  }).observe(document.documentElement, { subtree: true, childList: true, characterData: true, attributes: true });

  return {
    set,
    /**
     * Where a pin is on the page now.
     * @param {number} n
     */
    placeOf(n) {
      const pin = pins.find((one) => one.n === n);
      const found = pin && find(pin.position, isOurs);
      return found && { element: found.element, within: pin.position.within };
    },
  };
}

/**
 * @param {number} value
 * @param {number} from
 * @param {number} to
 */
const clamp = (value, from, to) => Math.min(to, Math.max(from, value));
