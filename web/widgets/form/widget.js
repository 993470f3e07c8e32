/**
 * <frontage-form form="form_…">: a form that is sent without leaving the page. It uses the <form> inside; without one it builds the fields from
 * the form's description. The challenge is solved when a visitor begins to fill in the form; a hosted challenge is shown above the button.
 * Colours and corners: widget.css. Events: frontage-sent, frontage-refused (detail.message).
 */
import { make } from '#web/dom.js';
import { HostedChallenge } from '#web/widgets/challenge/hosted-challenge.js';
import { solutionOf } from '#web/widgets/challenge/solution.js';
import { ErrorList, invalidFields, refusedFields, sentence } from './errors.js';
import { fieldOf } from './fields.js';
import { words } from './words.js';

const home = new URL('..', import.meta.url);
const style = new URL('widget.css', import.meta.url).href;
const json = { accept: 'application/json' };

class ResponseError extends Error {
  /** @param {number} status */
  constructor(status) {
    super(`The server returned status ${status}.`);
    this.status = status;
  }
}

class FrontageForm extends HTMLElement {
  #removal = new AbortController();
  #words = words.en;
  /** @type {Promise<string> | undefined} */
  #solution;
  /** What was sent last, until its response arrives. */
  #unanswered = '';
  /** @type {HTMLElement} */
  #status = make('p', { role: 'status', part: 'status' });
  #errors = new ErrorList('');
  /** @type {HTMLFormElement | undefined} */
  #form;
  #hosted = new HostedChallenge({
    insert: (place) => this.#insertChallenge(place),
    onExpired: () => {
      this.#solution = undefined;
    },
  });

  async connectedCallback() {
    if (this.#form) return;
    if (this.#removal.signal.aborted) this.#removal = new AbortController();
    const lang = /** @type {HTMLElement | null} */ (this.closest('[lang]'))?.lang;
    const language = (lang || navigator.language || 'en').slice(0, 2).toLowerCase();
    this.#words = (Object.hasOwn(words, language) && words[language]) || words.en;
    // While the page is being parsed, the element's content may not be there yet.
    if (document.readyState === 'loading')
      await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, { once: true }));
    const form = this.querySelector('form') ?? (await this.#build());
    if (form) this.#use(form);
  }

  disconnectedCallback() {
    this.#removal.abort();
  }

  /** @param {HTMLFormElement} form */
  #use(form) {
    this.#form = form;
    this.#status = form.querySelector('[role=status]') ?? this.#status;
    if (!this.#status.isConnected) form.append(this.#status);
    // The browser shows one error at a time, and not for long.
    form.setAttribute('novalidate', '');
    this.#errors = new ErrorList(this.#words.correct);
    form.prepend(this.#errors.element);
    form.addEventListener('submit', (event) => void this.#submit(event));
    // Not earlier, so that readers of the page do no work.
    form.addEventListener('focusin', () => void this.#solved().catch(() => {}), { once: true });
  }

  get #address() {
    return new URL(`f/${encodeURIComponent(this.getAttribute('form') ?? '')}`, home);
  }

  /** Builds the form from its description. */
  async #build() {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    root.replaceChildren(make('link', { rel: 'stylesheet', href: style }));
    try {
      const response = await fetch(this.#address, { headers: json });
      const description = await response.json();
      if (!response.ok || description.status !== 'enabled') throw new Error('The form is closed.');
      const form = make(
        'form',
        { className: 'frontage-form', part: 'form', 'aria-label': description.name },
        ...description.fields.map((/** @type {import('./fields.js').Field} */ field) => fieldOf(field, this.#words)),
      );
      // A hosted challenge needs an element of the page: it cannot find one in this shadow root.
      if (description.challenge.kind === 'hosted') form.append(make('slot', { name: 'challenge' }));
      form.append(make('button', { part: 'button' }, description.button ?? this.#words.send));
      root.append(form);
      return form;
    } catch {
      root.append(make('p', { role: 'status', part: 'status' }, this.#words.closed));
      return undefined;
    }
  }

  #solved() {
    this.#solution ??= this.#solveNew().catch((error) => {
      this.#solution = undefined;
      throw error;
    });
    return this.#solution;
  }

  async #solveNew() {
    const response = await fetch(`${this.#address}/challenge`, { headers: json });
    if (!response.ok) throw new ResponseError(response.status);
    return await solutionOf(await response.json(), this.#hosted, this.#removal.signal);
  }

  /** @param {HTMLElement} place */
  #insertChallenge(place) {
    const button = this.#form?.getRootNode() === this.shadowRoot ? null : this.#form?.querySelector('button');
    if (button) button.before(place);
    else this.append(place);
  }

  /** @param {SubmitEvent} event */
  async #submit(event) {
    event.preventDefault();
    const form = this.#form;
    if (!form || form.hasAttribute('aria-busy')) return;
    const invalid = invalidFields(form);
    if (invalid.length > 0) return this.#refuseFields(invalid);
    this.#errors.clear();
    // A field named querySelector would hide the form's own method.
    const button = event.submitter ?? HTMLFormElement.prototype.querySelector.call(form, 'button');
    form.setAttribute('aria-busy', 'true');
    button?.setAttribute('disabled', '');
    try {
      this.#show(this.#words.check);
      const solution = await this.#solved();
      this.#show(this.#words.sending);
      await this.#send(form, solution);
    } catch (error) {
      const isLimited = error instanceof ResponseError && error.status === 429;
      this.#refuse(isLimited ? this.#words.wait : this.#words.failed);
    } finally {
      form.removeAttribute('aria-busy');
      button?.removeAttribute('disabled');
    }
  }

  /**
   * @param {HTMLFormElement} form
   * @param {string} solution
   */
  async #send(form, solution) {
    const data = new FormData(form);
    const body = new URLSearchParams();
    for (const [name, value] of data) if (typeof value === 'string' && name !== '_return') body.append(name, value);
    body.set('altcha', solution);
    if (!body.has('_page')) body.set('_page', location.pathname);
    const isRepeated = this.#unanswered === String(body);
    this.#unanswered = String(body);
    const response = await fetch(this.#address, { method: 'POST', body, headers: json });
    const { error: fault, thanks, return_path: ownReturnPath } = await response.json();
    this.#unanswered = '';
    // The same message was received before, and only the response was lost.
    const error = isRepeated && fault?.message.includes('already been sent') ? undefined : fault;
    // Each solution is accepted once, and not used up if a field was invalid.
    if (error?.code !== 'invalid_fields') this.#solution = undefined;
    const refused = error?.code === 'invalid_fields' ? refusedFields(error.message, form) : [];
    if (refused.length > 0) return this.#refuseFields(refused);
    if (error) return this.#refuse(error.code === 'rate_limited' ? this.#words.wait : error.message);
    this.dispatchEvent(new CustomEvent('frontage-sent', { bubbles: true, composed: true }));
    const returnPath = data.get('_return') || ownReturnPath;
    if (typeof returnPath === 'string' && /^\/(?![/\\])/.test(returnPath)) return location.assign(returnPath);
    form.replaceChildren(this.#status);
    this.#show(this.getAttribute('thanks') ?? thanks ?? this.#words.thanks);
    this.#status.setAttribute('tabindex', '-1');
    this.#status.focus();
  }

  /** @param {string} text */
  #show(text, isFault = false) {
    this.#status.toggleAttribute('data-fault', isFault);
    this.#status.textContent = text;
  }

  /** @param {import('./errors.js').FieldError[]} errors */
  #refuseFields(errors) {
    this.#show('');
    this.#errors.show(errors);
    this.#announce(errors.map(sentence).join(' '));
  }

  /** @param {string} message */
  #refuse(message) {
    this.#show(message, true);
    this.#announce(message);
  }

  /** @param {string} message */
  #announce(message) {
    this.dispatchEvent(new CustomEvent('frontage-refused', { bubbles: true, composed: true, detail: { message } }));
  }
}

if (!customElements.get('frontage-form')) customElements.define('frontage-form', FrontageForm);
