/** The review's threads, relative to the page that is shown. */

/**
 * @typedef {{ author: string, author_kind: 'owner' | 'agent' | 'collaborator', author_name: string | null, body: string, created_at: string }} Message
 * @typedef {{ id: string, page: string, status: 'open' | 'resolved', resolved_at: string | null, position: import('./page-messages.js').Position | null, messages: Message[] }} Thread
 */

export class Threads {
  /** @type {Thread[]} Newest first. */
  all = [];
  page = '/';
  /** @type {Record<string, string>} How the page placed each pin, by number. */
  placements = {};

  /** @param {string} id */
  find(id) {
    return this.all.find((thread) => thread.id === id);
  }

  /** @param {Thread} thread */
  isHere({ page }) {
    return page.replace(/\/$/, '') === this.page.replace(/\/$/, '');
  }

  get openCount() {
    return this.all.filter(({ status }) => status === 'open').length;
  }

  /** Open threads with a place on this page, oldest first: their index + 1 is the pin's number. */
  get pinned() {
    const here = this.all.filter((thread) => this.isHere(thread));
    return here.filter(({ status, position }) => status === 'open' && position).reverse();
  }

  /** @param {string | null} id */
  numberOf(id) {
    const at = this.pinned.findIndex((thread) => thread.id === id);
    return at === -1 ? null : at + 1;
  }

  /**
   * A note if the thread's place has changed.
   * @param {Thread} thread
   */
  placeNote(thread) {
    const n = this.numberOf(thread.id);
    const how = n && this.placements[n];
    if (how === 'lost') return 'This part of the page no longer exists.';
    return how === 'changed' ? 'The text here has changed since the comment was made.' : '';
  }

  /** @returns {[title: string, threads: Thread[]][]} */
  get groups() {
    const open = this.all.filter(({ status }) => status === 'open');
    return [
      ['On this page', open.filter((thread) => this.isHere(thread))],
      ['On other pages', open.filter((thread) => !this.isHere(thread))],
      ['Resolved', this.all.filter(({ status }) => status === 'resolved')],
    ];
  }
}
