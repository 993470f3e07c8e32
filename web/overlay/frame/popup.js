/** The popup window that can read the cookie of the review link, which this frame cannot: it sends the key here and closes. */
import { showFault } from './dom.js';

/** @type {Window | null} */
let popup = null;

/** @param {string} site */
export function openPopup(site) {
  popup = open(`/review/hand-over/${site}`, 'frontage-hand-over', 'popup,width=440,height=360');
  if (!popup) showFault('Your browser blocked a pop-up window. Please allow pop-ups and try again.');
}

/**
 * The key that the popup sent: null if it has none, undefined if the message is from elsewhere.
 * @param {MessageEvent} event
 * @returns {string | null | undefined}
 */
export function keyIn({ source, origin, data }) {
  if (!popup || source !== popup || origin !== location.origin) return undefined;
  const key = data?.frontageReview;
  return typeof key === 'string' || key === null ? key : undefined;
}
