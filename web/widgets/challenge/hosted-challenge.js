/** A challenge of an external provider, which renders its own element (Turnstile, explicit rendering). */
import { make } from '#web/dom.js';

/** @type {Map<string, Promise<unknown>>} */
const scripts = new Map();

/**
 * Loads a script once for all widgets of the page.
 * @param {string} src
 */
function loadScript(src) {
  const loading =
    scripts.get(src) ??
    new Promise((resolve, reject) => {
      const script = make('script', { src });
      script.onload = resolve;
      script.onerror = () => {
        scripts.delete(src);
        reject(new Error('The challenge script could not be loaded.'));
      };
      document.head.append(script);
    });
  scripts.set(src, loading);
  return loading;
}

export class HostedChallenge {
  /** @type {HTMLElement | undefined} */
  #place;
  /** @type {string | undefined} */
  #widget;
  /** @type {PromiseWithResolvers<string> | undefined} */
  #token;
  #insert;
  #onExpired;

  /** @param {{ insert: (place: HTMLElement) => void, onExpired: () => void }} options */
  constructor({ insert, onExpired }) {
    this.#insert = insert;
    this.#onExpired = onExpired;
  }

  /**
   * A new token, which is valid once.
   * @param {{ script_url: string, site_key: string }} challenge
   */
  async solve({ script_url: src, site_key: siteKey }) {
    await loadScript(`${src}?render=explicit`);
    const token = Promise.withResolvers();
    this.#token = token;
    if (this.#place) globalThis.turnstile.reset(this.#widget);
    else this.#render(siteKey);
    return await token.promise;
  }

  /** @param {string} siteKey */
  #render(siteKey) {
    this.#place = make('div', { slot: 'challenge' });
    this.#insert(this.#place);
    this.#widget = globalThis.turnstile.render(this.#place, {
      sitekey: siteKey,
      'response-field': false,
      callback: (/** @type {string} */ token) => this.#token?.resolve(token),
      'error-callback': () => this.#token?.reject(new Error('The challenge was not solved.')),
      'expired-callback': this.#onExpired,
    });
  }
}
