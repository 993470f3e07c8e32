/** Elements of the frame's page. */

/** @param {string} id */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element #${id}.`);
  return found;
}

/**
 * A text area of the page.
 * @param {string} id
 */
export const textArea = (id) => /** @type {HTMLTextAreaElement} */ (byId(id));

/** @param {string} text An error, or empty to remove the last one. */
export function showFault(text) {
  const place = byId('fault');
  place.textContent = text;
  place.hidden = !text;
}
