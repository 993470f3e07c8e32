/** Choosing a place on the page with a mouse, a finger or the keyboard. */
import { words } from './place.js';

const selectable =
  'h1,h2,h3,h4,h5,h6,p,li,img,svg,video,figure,figcaption,blockquote,pre,table,a,button,input,select,textarea,label,dt,dd,header,nav,footer';

/**
 * Lets the reviewer choose; the returned function stops it. `onPick` gets no point if the keyboard was used.
 * @param {ShadowRoot} root
 * @param {{
 *   isOurs: import('./place.js').IsOurs,
 *   onPick: (element: Element, point?: import('./place.js').Point) => void,
 *   onCancel: () => void,
 * }} options
 */
export function startPicking(root, { isOurs, onPick, onCancel }) {
  const layer = root.appendChild(document.createElement('div'));
  layer.className = 'layer';
  layer.tabIndex = 0;
  layer.setAttribute('role', 'application');
  layer.setAttribute('aria-label', 'Choose a place on the page: arrow keys move, Enter selects, Escape cancels.');
  const box = layer.appendChild(document.createElement('div'));
  box.className = 'box';
  box.hidden = true;
  const spoken = layer.appendChild(document.createElement('div'));
  spoken.className = 'spoken';
  spoken.setAttribute('aria-live', 'assertive');
  /** @type {Element | undefined} */
  let chosen;

  function end() {
    removeEventListener('scroll', outline, true);
    layer.remove();
  }

  function outline() {
    const rect = chosen?.isConnected ? chosen.getBoundingClientRect() : undefined;
    box.hidden = !rect;
    if (!rect) return;
    const [left, top] = [Math.max(0, rect.left - 4), Math.max(0, rect.top - 4)];
    Object.assign(box.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${Math.max(8, rect.right + 4 - left)}px`,
      height: `${Math.max(8, rect.bottom + 4 - top)}px`,
    });
  }

  /** @param {MouseEvent} event */
  function under({ clientX, clientY }) {
    const found = document.elementsFromPoint(clientX, clientY).find((one) => !isOurs(one));
    return found && found !== document.documentElement ? found : document.body;
  }

  /** @param {number} by */
  function move(by) {
    const all = [...document.querySelectorAll(selectable)].filter((one) => {
      const { width, height } = one.getBoundingClientRect();
      return width > 0 && height > 0 && !isOurs(one);
    });
    if (all.length === 0) return;
    const at = chosen ? all.indexOf(chosen) : -1;
    const inView = all.findIndex((one) => one.getBoundingClientRect().bottom > 0);
    chosen = at === -1 ? all[Math.max(0, inView)] : all[(at + by + all.length) % all.length];
    if (!chosen) return;
    chosen.scrollIntoView({ block: 'nearest' });
    spoken.textContent = `${chosen.localName}: ${words(chosen) || 'no text'}`;
    outline();
  }

  layer.addEventListener('pointermove', (event) => {
    if (event.pointerType === 'touch') return;
    chosen = under(event);
    outline();
  });
  layer.addEventListener('click', (event) => {
    event.preventDefault();
    const element = under(event);
    end();
    onPick(element, { x: event.clientX, y: event.clientY });
  });
  layer.addEventListener('keydown', (event) => {
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Tab: event.shiftKey ? -1 : 1 };
    if (event.key in steps) move(steps[event.key] ?? 0);
    else if (event.key === 'Escape') {
      end();
      onCancel();
    } else if ((event.key === 'Enter' || event.key === ' ') && chosen) {
      end();
      onPick(chosen);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  addEventListener('scroll', outline, true);
  layer.focus({ preventScroll: true });
  return end;
}
