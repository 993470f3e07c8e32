/**
 * <frontage-form form="form_…">: a form that answers in place. A plain <form> inside is taken as it is; without one the fields are built from
 * what the form says of itself. The challenge is solved when somebody begins to write; that of a verifier elsewhere is drawn above the button.
 * Colours and corners: form-widget.css.
 * Events: frontage-sent, frontage-refused (detail.message).
 */
const home = new URL('../..', import.meta.url);

const words = {
  en: {
    send: 'Send',
    sending: 'Sending…',
    check: 'Running a quick spam check…',
    thanks: 'Thank you. Your message has been sent.',
    wait: 'Too many messages. Please try again in a minute.',
    failed: 'Your message could not be sent. Please try again.',
    closed: 'This form is closed at the moment.',
    optional: 'optional',
    choose: 'Please choose',
  },
  de: {
    send: 'Senden',
    sending: 'Wird gesendet …',
    check: 'Kurze Prüfung gegen Spam …',
    thanks: 'Danke. Ihre Nachricht wurde gesendet.',
    wait: 'Zu viele Nachrichten. Bitte versuchen Sie es in einer Minute erneut.',
    failed: 'Ihre Nachricht konnte nicht gesendet werden. Bitte versuchen Sie es erneut.',
    closed: 'Dieses Formular ist zurzeit geschlossen.',
    optional: 'freiwillig',
    choose: 'Bitte wählen',
  },
  fr: {
    send: 'Envoyer',
    sending: 'Envoi…',
    check: 'Petite vérification…',
    thanks: 'Merci. Votre message a été envoyé.',
    wait: 'Trop de demandes. Réessayez dans une minute.',
    failed: 'L’envoi a échoué. Veuillez réessayer.',
    closed: 'Ce formulaire est fermé pour le moment.',
    optional: 'facultatif',
    choose: 'Choisissez',
  },
  es: {
    send: 'Enviar',
    sending: 'Enviando…',
    check: 'Una breve comprobación…',
    thanks: 'Gracias. Su mensaje se ha enviado.',
    wait: 'Demasiadas solicitudes. Inténtelo dentro de un minuto.',
    failed: 'No se ha podido enviar. Inténtelo de nuevo.',
    closed: 'Este formulario está cerrado por ahora.',
    optional: 'opcional',
    choose: 'Elija',
  },
  it: {
    send: 'Invia',
    sending: 'Invio…',
    check: 'Una breve verifica…',
    thanks: 'Grazie. Il messaggio è stato inviato.',
    wait: 'Troppe richieste. Riprovi tra un minuto.',
    failed: 'Invio non riuscito. Riprovi.',
    closed: 'Questo modulo è chiuso al momento.',
    optional: 'facoltativo',
    choose: 'Scelga',
  },
  nl: {
    send: 'Versturen',
    sending: 'Versturen…',
    check: 'Even controleren…',
    thanks: 'Bedankt. Uw bericht is verstuurd.',
    wait: 'Te veel tegelijk. Probeer het over een minuut opnieuw.',
    failed: 'Versturen is niet gelukt. Probeer het opnieuw.',
    closed: 'Dit formulier is nu gesloten.',
    optional: 'optioneel',
    choose: 'Kies',
  },
  pt: {
    send: 'Enviar',
    sending: 'A enviar…',
    check: 'Uma breve verificação…',
    thanks: 'Obrigado. A sua mensagem foi enviada.',
    wait: 'Demasiados pedidos. Tente novamente dentro de um minuto.',
    failed: 'Não foi possível enviar. Tente novamente.',
    closed: 'Este formulário está fechado de momento.',
    optional: 'opcional',
    choose: 'Escolha',
  },
};

const style = new URL('widget.css', import.meta.url).href;

/** The challenge's answer (ALTCHA, PBKDF2): the browser's own cryptography does the work beside the page. */
async function solve(challenge, signal) {
  const { nonce, salt, cost, keyLength, keyPrefix } = challenge.parameters;
  const start = bytes(nonce);
  const derive = async (counter) => {
    const password = new Uint8Array(start.length + 4);
    password.set(start);
    new DataView(password.buffer).setUint32(start.length, counter);
    const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
    const how = { name: 'PBKDF2', hash: 'SHA-256', salt: bytes(salt), iterations: cost };
    return hex(await crypto.subtle.deriveBits(how, key, keyLength * 8));
  };
  const atOnce = Math.min(8, Math.max(2, navigator.hardwareConcurrency || 2));
  for (let from = 0; !signal.aborted; from += atOnce) {
    const keys = await Promise.all(Array.from({ length: atOnce }, (_, ahead) => derive(from + ahead)));
    const found = keys.findIndex((key) => key.startsWith(keyPrefix));
    if (found < 0) continue;
    const solution = { counter: from + found, derivedKey: keys[found] };
    return btoa(JSON.stringify({ challenge, solution }));
  }
  throw new DOMException('left', 'AbortError');
}

const scripts = new Map();
/** Loads a script once, for all forms of the page. */
function load(src) {
  const loading =
    scripts.get(src) ??
    new Promise((done, failed) => {
      const script = make('script', { src });
      script.onload = done;
      script.onerror = () => {
        scripts.delete(src);
        failed(new Error('no script'));
      };
      document.head.append(script);
    });
  scripts.set(src, loading);
  return loading;
}

const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');

function make(name, attributes = {}, ...inside) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, '');
    else if (value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...inside.filter((part) => part !== undefined));
  return element;
}

/** A field as the description names it. */
function fieldOf({ name, label, kind, required, options = [], max_length: maxlength }, said) {
  if (kind === 'hidden') return make('input', { type: 'hidden', name });
  const more = required ? undefined : make('small', {}, ` (${said.optional})`);
  const choice = (type, value, text, needed) =>
    make('label', { class: 'choice', part: 'choice' }, make('input', { type, name, value, required: needed }), text);
  if (kind === 'checkbox') return choice('checkbox', 'yes', label, required);
  if (kind === 'radio' || kind === 'checkboxes') {
    const type = kind === 'radio' ? 'radio' : 'checkbox';
    const all = options.map((option) => choice(type, option, option, type === 'radio' && required));
    return make('fieldset', {}, make('legend', {}, label, more), ...all);
  }
  const common = { name, required, part: 'input' };
  if (kind === 'textarea')
    return make('label', {}, make('span', {}, label, more), make('textarea', { ...common, rows: 6, maxlength }));
  if (kind === 'select') {
    const all = [make('option', { value: '' }, said.choose), ...options.map((option) => make('option', {}, option))];
    return make('label', {}, make('span', {}, label, more), make('select', common, ...all));
  }
  const own = {
    email: { autocomplete: 'email' },
    tel: { autocomplete: 'tel' },
    url: { autocomplete: 'url' },
    number: { step: 'any' },
  };
  return make(
    'label',
    {},
    make('span', {}, label, more),
    make('input', { ...common, type: kind, maxlength, ...own[kind] }),
  );
}

class FrontageForm extends HTMLElement {
  #leaving = new AbortController();
  #solution;
  #told;
  #form;
  // Of a verifier elsewhere.
  #place;
  #widget;
  #heard;

  async connectedCallback() {
    if (this.#form) return;
    if (this.#leaving.signal.aborted) this.#leaving = new AbortController();
    const language = (this.closest('[lang]')?.lang || navigator.language || 'en').slice(0, 2).toLowerCase();
    this.said = Object.hasOwn(words, language) ? words[language] : words.en;
    // Parsed with the page, it may come before what stands inside it.
    if (document.readyState === 'loading')
      await new Promise((done) => document.addEventListener('DOMContentLoaded', done, { once: true }));
    const given = this.querySelector('form');
    const form = given ?? (await this.#build());
    if (!form) return;
    this.#form = form;
    this.#told = form.querySelector('[role=status]') ?? make('p', { role: 'status', part: 'status' });
    if (!this.#told.isConnected) form.append(this.#told);
    form.addEventListener('submit', (event) => this.#submit(event));
    // Not before: who only reads the page works for nobody.
    form.addEventListener('focusin', () => void this.#solved().catch(() => {}), { once: true });
  }

  disconnectedCallback() {
    this.#leaving.abort();
  }

  get #address() {
    return new URL(`f/${encodeURIComponent(this.getAttribute('form') ?? '')}`, home);
  }

  async #build() {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    root.replaceChildren(make('link', { rel: 'stylesheet', href: style }));
    try {
      const answer = await fetch(this.#address, { headers: { accept: 'application/json' } });
      const told = await answer.json();
      if (!answer.ok || told.status !== 'enabled') throw new Error('closed');
      const form = make(
        'form',
        { class: 'frontage-form', part: 'form', 'aria-label': told.name },
        ...told.fields.map((field) => fieldOf(field, this.said)),
      );
      // What another draws is the page's own: it cannot look in here.
      if (told.challenge.kind === 'hosted') form.append(make('slot', { name: 'challenge' }));
      form.append(make('button', { part: 'button' }, this.said.send));
      root.append(form);
      return form;
    } catch {
      root.append(make('p', { role: 'status', part: 'status' }, this.said.closed));
      return undefined;
    }
  }

  #solved() {
    this.#solution ??= this.#solveOne().catch((error) => {
      this.#solution = undefined;
      throw error;
    });
    return this.#solution;
  }

  async #solveOne() {
    const answer = await fetch(`${this.#address}/challenge`, { headers: { accept: 'application/json' } });
    if (!answer.ok) throw Object.assign(new Error('no challenge'), { answer });
    const challenge = await answer.json();
    if (challenge.kind === 'hosted') return await this.#solveElsewhere(challenge);
    return await solve(challenge, this.#leaving.signal);
  }

  /** A verifier elsewhere draws its own element into the form, and gives a token that is good once (Turnstile's explicit rendering). */
  async #solveElsewhere({ script_url: src, site_key: sitekey }) {
    await load(`${src}?render=explicit`);
    const verifier = globalThis.turnstile;
    const solved = Promise.withResolvers();
    this.#heard = solved;
    if (this.#place) verifier.reset(this.#widget);
    else {
      this.#place = make('div', { slot: 'challenge' });
      const button = this.#form.getRootNode() === this.shadowRoot ? null : this.#form.querySelector('button');
      if (button) button.before(this.#place);
      else this.append(this.#place);
      this.#widget = verifier.render(this.#place, {
        sitekey,
        'response-field': false,
        callback: (token) => this.#heard.resolve(token),
        'error-callback': () => this.#heard.reject(new Error('not solved')),
        'expired-callback': () => {
          this.#solution = undefined;
        },
      });
    }
    return await solved.promise;
  }

  async #submit(event) {
    event.preventDefault();
    const form = this.#form;
    if (form.hasAttribute('aria-busy')) return;
    const button = event.submitter ?? HTMLFormElement.prototype.querySelector.call(form, 'button');
    form.setAttribute('aria-busy', 'true');
    button?.setAttribute('disabled', '');
    try {
      this.#tell(this.said.check);
      const altcha = await this.#solved();
      this.#tell(this.said.sending);
      await this.#send(form, altcha);
    } catch (error) {
      this.#refused(error.answer?.status === 429 ? this.said.wait : this.said.failed);
    } finally {
      form.removeAttribute('aria-busy');
      button?.removeAttribute('disabled');
    }
  }

  async #send(form, altcha) {
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(form))
      if (typeof value === 'string' && name !== '_return') body.append(name, value);
    body.set('altcha', altcha);
    if (!body.has('_page')) body.set('_page', location.pathname);
    const answer = await fetch(this.#address, { method: 'POST', body, headers: { accept: 'application/json' } });
    const { error } = await answer.json();
    // Each solution is taken once; one that came with a mistake was not.
    if (error?.code !== 'invalid_fields') this.#solution = undefined;
    if (error) return this.#refused(error.code === 'rate_limited' ? this.said.wait : error.message);
    this.dispatchEvent(new CustomEvent('frontage-sent', { bubbles: true, composed: true }));
    const back = new FormData(form).get('_return');
    if (typeof back === 'string' && /^\/(?![/\\])/.test(back)) return location.assign(back);
    form.replaceChildren(this.#told);
    this.#tell(this.getAttribute('thanks') ?? this.said.thanks);
    this.#told.setAttribute('tabindex', '-1');
    this.#told.focus();
  }

  #tell(text, fault = false) {
    this.#told.toggleAttribute('data-fault', fault);
    this.#told.textContent = text;
  }

  #refused(message) {
    this.#tell(message, true);
    this.dispatchEvent(new CustomEvent('frontage-refused', { bubbles: true, composed: true, detail: { message } }));
  }
}

if (!customElements.get('frontage-form')) customElements.define('frontage-form', FrontageForm);
