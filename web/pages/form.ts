/** Forms on our own pages: each contains the token that ties it to the browser it was shown to. */
import { type Html, html } from '#web/html.ts';

/** Renders a form with the page's token. Without an action it posts to the page's URL, which may be a secret and so is not repeated. */
export type Form = (attributes: { action?: string; inline?: boolean }, inside: Html) => Html;

export function formWith(token: string): Form {
  return ({ action, inline }, inside) =>
    html`<form method="post"${action === undefined ? null : html` action="${action}"`}${inline ? html` class="inline"` : null}><input type="hidden" name="form" value="${token}">${inside}</form>`;
}

/** Input for a code that another screen shows. */
export function codeField(label: string): Html {
  return html`<label>${label}<input class="code" name="code" required maxlength="20" autocomplete="off" autocapitalize="characters" spellcheck="false" placeholder="········"></label>`;
}

/** Input for six digits that another screen shows. */
export function digitsField(label: string): Html {
  return html`<label>${label}<input class="code" name="code" required maxlength="20" inputmode="numeric" autocomplete="one-time-code" spellcheck="false" placeholder="······"></label>`;
}

/** A radio button or a box to tick, with its label. */
export function choiceField(
  type: 'radio' | 'checkbox',
  name: string,
  value: string,
  label: Html | string,
  isChosen: boolean,
): Html {
  return html`<label class="choice"><input type="${type}" name="${name}" value="${value}"${isChosen ? html` checked` : null}><span>${label}</span></label>`;
}

/** The error of the previous attempt. */
export function fault(text: string | undefined): Html | null {
  return text === undefined ? null : html`<p class="fault" role="alert">${text}</p>`;
}

/** The error after a wrong code, or after none, which costs no attempt. */
export function wrongCode(triesLeft: number, typed: string): string {
  const rest = triesLeft === 1 ? '1 attempt left' : `${triesLeft} attempts left`;
  if (typed.trim() === '') return `No code was typed. Please type it; you have ${rest}.`;
  return `That code is not correct. Please compare it once more; you have ${rest}.`;
}
