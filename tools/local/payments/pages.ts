/** Pages for payers and account owners: pay, decline or go back; complete an account. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fromProvider, written } from '#rules/currencies.ts';
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { noticePage } from '#web/pages/notice.ts';
import { completeAccount, useLink } from './accounts.ts';
import { complete, currentSession } from './sessions.ts';
import type { PaymentsStub, StoredObject } from './state.ts';

/** Responds to requests for the stub's pages; false for other paths. */
export function answerPage(
  stub: PaymentsStub,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
): boolean {
  const path = (request.url ?? '').split('?')[0] ?? '';
  const [, kind, id = '', act] = /^\/(pay|onboarding)\/(\w+)(?:\/(pay|decline|cancel|finish|later))?$/.exec(path) ?? [];
  if (kind === undefined) return false;
  const pressed = request.method === 'POST' ? act : undefined;
  const email = new URLSearchParams(body).get('email') || null;
  if (kind === 'pay') payPage(stub, response, stub.objects.get(id), { pressed, email });
  else onboardingPage(stub, response, id, pressed);
  return true;
}

function payPage(
  stub: PaymentsStub,
  response: ServerResponse,
  session: StoredObject | undefined,
  { pressed, email }: { pressed: string | undefined; email: string | null },
) {
  if (session?.object !== 'checkout.session') return send(response, 404, closedPage('We can’t find this page'));
  if (currentSession(stub, session).status !== 'open') return send(response, 410, closedPage('This page has expired'));
  if (pressed === 'cancel') return lead(response, session.cancel_url);
  if (pressed === 'decline') return send(response, 402, pageOf(stub, session, 'The card was declined.'));
  if (pressed === 'pay') {
    if (!complete(stub, session, email)) return send(response, 402, pageOf(stub, session, 'The card was declined.'));
    return lead(response, session.success_url);
  }
  send(response, 200, pageOf(stub, session));
}

function pageOf(stub: PaymentsStub, session: StoredObject, problem?: string): WrittenPage {
  const currency = String(session.currency).toUpperCase();
  const amount = written({ amount: fromProvider({ amount: Number(session.amount_total ?? 0), currency }), currency });
  const main = html`<h1>${amount}</h1>
<p class="lead">${String(session.title ?? '')}</p>
${session.business ? html`<p>${String(session.business)}</p>` : null}
${problem ? html`<p class="fault" role="alert">${problem}</p>` : null}
<div class="panel">
${button(`/pay/${session.id}/pay`, html`<label>E-mail <input type="email" name="email" value="payer@example.com" autocomplete="email" required></label> <button>Pay ${amount}</button>`)}
${button(`/pay/${session.id}/decline`, html`<button class="quiet">Decline the card</button>`)}
${button(`/pay/${session.id}/cancel`, html`<button class="quiet">Go back without paying</button>`)}
<p class="hint">No money is charged: this page replaces the payment provider on this machine.</p>
</div>`;
  const leadsTo = [session.success_url, session.cancel_url].flatMap((url) =>
    url ? [new URL(String(url)).origin] : [],
  );
  return writePage({ title: `Pay ${amount}`, main, layout: 'card', form: true, leadsTo: [stub.url, ...leadsTo] });
}

function onboardingPage(stub: PaymentsStub, response: ServerResponse, id: string, pressed: string | undefined) {
  const kept = stub.objects.get(id);
  if (kept?.object !== 'account_link') return send(response, 404, closedPage('We can’t find this page'));
  const link = useLink(stub, id);
  if (!link) return lead(response, kept.refresh_url);
  if (pressed === undefined) return send(response, 200, accountPage(link));
  link.used = true;
  if (pressed === 'finish') completeAccount(stub, String(link.about));
  lead(response, link.return_url);
}

function accountPage(link: StoredObject): WrittenPage {
  const main = html`<h1>Complete your account</h1>
<p class="lead">Your account can then receive payments for a website.</p>
<div class="panel">
${button(`/onboarding/${link.id}/finish`, html`<button>Fill in all details</button>`)}
${button(`/onboarding/${link.id}/later`, html`<button class="quiet">Later</button>`)}
<p class="hint">No real account is created: this page replaces the payment provider on this machine.</p>
</div>`;
  const leadsTo = [new URL(String(link.return_url)).origin, new URL(String(link.refresh_url)).origin];
  return writePage({ title: 'Complete the account', main, layout: 'card', form: true, leadsTo });
}

const button = (action: string, inner: Html) => html`<form method="post" action="${action}">${inner}</form>`;

const closedPage = (title: string) => noticePage({ title, text: 'Please open the original link again.' });

function lead(response: ServerResponse, url: unknown): void {
  response.writeHead(303, { location: String(url) }).end();
}

function send(response: ServerResponse, status: number, { body, headers }: WrittenPage): void {
  response.writeHead(status, headers).end(body);
}
