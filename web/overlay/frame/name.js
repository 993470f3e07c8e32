/** The name that a reviewer gives, shown with each of their comments. It is asked once and kept in this frame's storage. */
import { byId } from './dom.js';

const storageName = 'frontage-reviewer';
const nameField = /** @type {HTMLInputElement} */ (byId('name'));

/** @type {string | null} Null until it was asked, empty if no name was given. */
let name = readName();
let isChanging = false;
nameField.value = name ?? '';

function readName() {
  try {
    return localStorage.getItem(storageName);
  } catch {
    return null;
  }
}

/** Shows the field once more, to change the name. */
export function askName() {
  isChanging = true;
}

/** Stores the name in the field: it was accepted, or is all that was typed. */
export function keepName() {
  name = nameField.value.trim();
  isChanging = false;
  try {
    localStorage.setItem(storageName, name);
  } catch {}
}

/** The field of a request for the name. */
export function authorName() {
  const typed = nameField.value.trim();
  return typed ? { author_name: typed } : {};
}

/**
 * Puts the field into the view that asks for the name, and the name on the list's button.
 * @param {string | undefined} view
 */
export function drawName(view) {
  const label = byId('name-field');
  const isAsked = isChanging || (name === null && (view === 'compose' || view === 'thread'));
  const place = isAsked ? document.querySelector(`[data-view="${view}"] .bottom`) : null;
  label.hidden = !place;
  // Moving the field would take the keyboard focus off it.
  if (place && label.parentElement !== place) place.prepend(label);
  byId('rename').hidden = isChanging;
  byId('rename').textContent = name ? `Commenting as ${name}` : 'Add your name';
}
