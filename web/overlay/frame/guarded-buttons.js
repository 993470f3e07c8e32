/** Buttons that send something: only a person who sees this window can press them (protection against clickjacking). */
import { byId, showFault } from './dom.js';

/** @type {ReturnType<typeof setTimeout> | undefined} */
let resting;

/** Intersection Observer, version 2: browsers that have it report whether the page covers or hides the frame. */
export function watchCover() {
  if (!('isVisible' in IntersectionObserverEntry.prototype)) return;
  const observer = new IntersectionObserver(
    (entries) => {
      document.body.dataset.covered = String(!entries.at(-1)?.isVisible);
    },
    { threshold: [0, 0.5, 1], trackVisibility: true, delay: 100 },
  );
  observer.observe(document.body);
}

/**
 * `aria-disabled` keeps the keyboard focus: a disabled button loses it, and the next key press would go to its neighbour.
 * @param {HTMLElement} button
 * @param {boolean} isResting
 */
const rest = (button, isResting) => button.setAttribute('aria-disabled', String(isResting));

/** Ignores presses for a moment after the view changed: they were meant for what was there before. */
export function restButtons() {
  /** @param {boolean} isResting */
  const restAll = (isResting) => {
    for (const id of ['send', 'answer', 'settle']) rest(byId(id), isResting);
  };
  restAll(true);
  clearTimeout(resting);
  resting = setTimeout(restAll, 400, false);
}

/**
 * Runs `work` when a person presses the button while the window is visible.
 * @param {string} id
 * @param {() => unknown} work
 */
export function onPressed(id, work) {
  const button = byId(id);
  let isWorking = false;
  button.addEventListener('click', (event) => void press(event));

  /** @param {MouseEvent} event */
  async function press(event) {
    event.preventDefault();
    if (!event.isTrusted || isWorking || button.getAttribute('aria-disabled') === 'true') return;
    if (document.body.dataset.covered === 'true')
      return showFault('Something on the page covers this window. Please close it and try again.');
    isWorking = true;
    rest(button, true);
    try {
      await work();
    } catch (error) {
      showFault(error instanceof Error ? error.message : String(error));
    } finally {
      isWorking = false;
      rest(button, false);
    }
  }
}
