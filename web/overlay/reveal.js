/** Keeps the place of a comment in view where the overlay's window covers the lower part of the page, as on a phone. */

/**
 * Whether the window is as wide as the page: then the rest of the page is above it, not beside it.
 * @param {HTMLElement} frame
 */
const isBelow = (frame) => frame.getBoundingClientRect().width >= document.documentElement.clientWidth;

/**
 * Adds room for scrolling below the page while the window covers its lower part, so that its end can be scrolled above the window.
 * @param {HTMLElement} room
 * @param {HTMLElement} frame
 */
export function makeRoom(room, frame) {
  const isOpen = frame.className === 'panel' && isBelow(frame);
  room.style.height = isOpen ? `${frame.getBoundingClientRect().height}px` : '0';
}

/**
 * Scrolls a point of the element to the middle of what is visible above the window, or else of the page.
 * @param {HTMLElement} frame
 * @param {Element} element
 * @param {import('./place.js').Point | null | undefined} within The point, as fractions of the element's size.
 */
export function reveal(frame, element, within) {
  if (!isBelow(frame)) {
    element.scrollIntoView({ block: 'center', behavior: 'smooth' });
    return;
  }
  // Also within an element of the page that scrolls.
  element.scrollIntoView({ block: 'center', behavior: 'instant' });
  const box = element.getBoundingClientRect();
  const y = box.top + (within?.y ?? 0) * box.height;
  scrollBy({ top: y - frame.getBoundingClientRect().top / 2, behavior: 'instant' });
}
