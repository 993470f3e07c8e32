/** A new comment with its place and its screenshot, and replies that are not sent yet. */
import { byId, textArea } from './dom.js';

// A page that sends no screenshot does not prevent the comment.
const pictureTimeoutMs = 25_000;

const missingWords = {
  slow: 'Taking a screenshot…',
  large: 'No screenshot: the image would be too large.',
  failed: 'No screenshot: this page could not be captured.',
};

/** @type {string | undefined} */
let pictureUrl;

export class Draft {
  /** @type {ArrayBuffer | null} */
  picture = null;
  /** @type {import('./page-messages.js').Missing | null} */
  missing = 'slow';
  /** The idempotency key. */
  key = crypto.randomUUID();
  /** @type {() => void} */
  #settle = () => {};
  /** Resolves once there is a screenshot, or there will be none. */
  settled = new Promise((resolve) => {
    this.#settle = () => resolve(undefined);
    setTimeout(resolve, pictureTimeoutMs);
  });

  /**
   * @param {import('./page-messages.js').Position} position
   * @param {unknown} shot The page's number for the screenshot.
   */
  constructor(position, shot) {
    this.position = position;
    this.shot = shot;
  }

  /** @param {{ picture: ArrayBuffer | null, missing: import('./page-messages.js').Missing | null }} received */
  receive({ picture, missing }) {
    this.picture = picture;
    this.missing = missing;
    this.#settle();
    this.drawPicture();
  }

  draw() {
    const { quote } = this.position;
    byId('quoted').textContent = quote ? `“${quote}”` : 'This place on the page';
    this.drawPicture();
  }

  drawPicture() {
    if (pictureUrl) URL.revokeObjectURL(pictureUrl);
    pictureUrl = this.picture ? URL.createObjectURL(new Blob([this.picture], { type: 'image/jpeg' })) : undefined;
    const image = /** @type {HTMLImageElement} */ (byId('picture'));
    image.hidden = !pictureUrl;
    if (pictureUrl) image.src = pictureUrl;
    else image.removeAttribute('src');
    byId('picture-words').textContent = this.picture
      ? 'This screenshot will be sent with your comment.'
      : missingWords[this.missing ?? 'failed'];
  }

  /** The fields of the request for the screenshot. */
  get screenshot() {
    return this.picture ? { screenshot_base64: base64(this.picture) } : { missing: this.missing };
  }
}

/** No comment: it was sent or discarded, with its words. */
export function emptied() {
  textArea('words').value = '';
  return null;
}

/**
 * Whether the view has words that were not sent. They stay, so that they can be copied.
 * @param {string | undefined} view
 */
export const isTyped = (view) =>
  (view === 'compose' && textArea('words').value !== '') || (view === 'thread' && textArea('reply').value !== '');

/** @type {Map<string, string>} What was typed as a reply, by thread. */
const replies = new Map();
let repliesTo = '';

/**
 * Shows the reply that was begun in this thread. Looking at another one, or at a smaller window, loses none.
 * @param {string} id
 */
export function showReply(id) {
  replies.set(repliesTo, textArea('reply').value);
  textArea('reply').value = replies.get(id) ?? '';
  repliesTo = id;
}

/** @param {ArrayBuffer} bytes */
function base64(bytes) {
  const all = new Uint8Array(bytes);
  let text = '';
  for (let at = 0; at < all.length; at += 0x8000) text += String.fromCharCode(...all.subarray(at, at + 0x8000));
  return btoa(text);
}
