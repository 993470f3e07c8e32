// Pins on open threads. They know where a thread stands and its number, and nothing of what was said.
import { find } from './place.js';

/**
 * Keeps a pin on each place, also while the page moves. `onOpen(n)`: a pin was chosen. `onPlaced(places)`: how each was found. `onChange()`: the page
 * is not what it was.
 */
export function openPins(root, { isOurs, onOpen, onPlaced, onChange }) {
  let pins = [];
  let shown = '';
  let told = '';
  let due = 0;

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
    told = '';
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
        // Other words, other shape: then the pin stands at the beginning.
        const [x, y] = found.how === 'changed' ? [0, 0] : [within.x * box.width, within.y * box.height];
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
    if (text !== told) onPlaced(places);
    told = text;
  }

  const later = () => {
    if (due === 0) due = requestAnimationFrame(place);
  };
  for (const name of ['resize', 'scroll', 'load']) addEventListener(name, later, true);
  new MutationObserver((changes) => {
    if (changes.some(({ target }) => !isOurs(target))) later();
  }).observe(document.documentElement, { subtree: true, childList: true, characterData: true, attributes: true });

  return {
    set,
    show(n) {
      const pin = pins.find((one) => one.n === n);
      const found = pin && find(pin.position, isOurs);
      found?.element.scrollIntoView({ block: 'center', behavior: 'smooth' });
    },
  };
}

const clamp = (value, from, to) => Math.min(to, Math.max(from, value));
