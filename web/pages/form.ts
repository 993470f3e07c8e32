/** Forms of our own pages: each carries the token that ties it to the browser it was shown to. */
import { type Html, html } from '#web/html.ts';

/** Makes the page's forms, all with its token. One without an action goes to the address of its page, which then need not stand in it: it may be a secret. */
export type Form = (attributes: { action?: string; inline?: boolean }, inside: Html) => Html;

export function formWith(token: string): Form {
  return ({ action, inline }, inside) =>
    html`<form method="post"${action === undefined ? null : html` action="${action}"`}${inline ? html` class="inline"` : null}><input type="hidden" name="form" value="${token}">${inside}</form>`;
}

/** Where a code is typed that stands on another screen. */
export function codeField(label: string): Html {
  return html`<label>${label}<input class="code" name="code" required maxlength="20" autocomplete="off" autocapitalize="characters" spellcheck="false" placeholder="········"></label>`;
}

/** What was wrong with the form before, told where it is shown again. */
export function fault(text: string | undefined): Html | null {
  return text === undefined ? null : html`<p class="fault" role="alert">${text}</p>`;
}

/** The sentence after a wrong code. */
export function wrongCode(triesLeft: number): string {
  const rest = triesLeft === 1 ? 'one more try' : `${triesLeft} more tries`;
  return `That is not the code. Check it letter by letter: you have ${rest}.`;
}
