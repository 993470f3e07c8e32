/** Sends a booking, and sends it again with a solved challenge if the site requires one. */
import { make } from '#web/dom.js';
import { HostedChallenge } from '#web/widgets/challenge/hosted-challenge.js';
import { solutionOf } from '#web/widgets/challenge/solution.js';
import { newKey, RequestFailed, request } from './api.js';

const solvingMs = 120_000;

export class BookingSender {
  #sent = { details: '', body: '', key: '' };
  #hosted;
  /** Shows a hosted challenge, which needs an element of the page: it cannot find one in a shadow root. */
  slot = make('slot', { name: 'challenge' });

  /** @param {(place: HTMLElement) => void} insert adds the element of a hosted challenge to the page */
  constructor(insert) {
    this.#hosted = new HostedChallenge({ insert, onExpired: () => {} });
  }

  /**
   * The booking as the server returns it. Throws `RequestFailed`.
   * @param {string} path
   * @param {object} booking
   * @returns {Promise<import('./api.js').Booking>}
   */
  async send(path, booking) {
    const details = JSON.stringify(booking);
    // The same booking sent again after a lost response keeps its idempotency key.
    if (this.#sent.details !== details) this.#sent = { details, body: details, key: newKey() };
    try {
      const made = await this.#post(path);
      if (made.status === 'confirmed' || made.pay_url) return made;
      // Its response was lost, and meanwhile it has ended: who presses the button again wants another one.
      this.#sent.key = newKey();
      return await this.#post(path);
    } catch (error) {
      if (!(error instanceof RequestFailed) || error.code !== 'not_a_person') throw error;
    }
    const altcha = await this.#solve(await request(`${path}/challenge`));
    this.#sent = { details, body: JSON.stringify({ ...booking, altcha }), key: newKey() };
    return await this.#post(path);
  }

  /** @param {string} path */
  async #post(path) {
    const { body, key } = this.#sent;
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    return await request(path, { method: 'POST', headers, body });
  }

  /** @param {unknown} challenge */
  async #solve(challenge) {
    return await solutionOf(challenge, this.#hosted, AbortSignal.timeout(solvingMs)).catch(() => {
      throw new RequestFailed();
    });
  }
}
