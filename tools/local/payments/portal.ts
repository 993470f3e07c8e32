/** The page where a customer manages a monthly subscription; some buttons replace the customer's bank. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Html, html } from '#web/html.ts';
import { writePage } from '#web/page.ts';
import { noticePage } from '#web/pages/notice.ts';
import { portalActs, subscriptionsOf } from './billing.ts';
import type { PaymentsStub, StoredObject } from './state.ts';

/** Responds to requests for the portal's pages; false for other paths. */
export function answerPortal(stub: PaymentsStub, request: IncomingMessage, response: ServerResponse): boolean {
  const path = (request.url ?? '').split('?')[0] ?? '';
  const [, id, about = '', act = ''] = /^\/portal\/(\w+)(?:\/(\w+)\/(\w+))?$/.exec(path) ?? [];
  if (id === undefined) return false;
  const session = stub.objects.get(id);
  if (session?.object !== 'billing_portal.session') {
    const { body, headers } = noticePage({
      title: 'This page has expired',
      text: 'Please open the page again from your account.',
    });
    response.writeHead(404, headers).end(body);
    return true;
  }
  const kept = subscriptionsOf(stub, session.customer).find((one) => one.id === about);
  if (request.method === 'POST' && kept) {
    portalActs[act]?.(stub, kept);
    response.writeHead(303, { location: `/portal/${id}` }).end();
    return true;
  }
  const { body, headers } = portalPage(stub, session);
  response.writeHead(200, headers).end(body);
  return true;
}

function portalPage(stub: PaymentsStub, session: StoredObject) {
  const all = subscriptionsOf(stub, session.customer);
  const main = html`<h1>Your subscription</h1>
${all.length === 0 ? html`<p class="lead">You have no subscription.</p>` : all.map((one) => panel(session, one))}
<p><a href="${String(session.return_url)}">Back</a></p>
<p class="hint">No money is charged: this page replaces the payment provider on this machine.</p>`;
  return writePage({ title: 'Your subscription', main, layout: 'card', form: true, leadsTo: [stub.url] });
}

function panel({ id }: StoredObject, kept: StoredObject): Html {
  const button = (act: string, text: string) =>
    html`<form method="post" action="/portal/${id}/${kept.id}/${act}"><button class="quiet">${text}</button></form>`;
  const isOverdue = kept.status === 'past_due';
  return html`<div class="panel">
<p><strong>${String(kept.title ?? '')}</strong> ${kept.cancel_at ? 'ends when the paid month is over' : isOverdue ? 'is overdue' : 'is paid'}</p>
${kept.cancel_at ? button('resume', 'Undo the cancellation') : button('cancel', 'Cancel at the end of the month')}
${button('end', 'Cancel now')}
${isOverdue ? button('settle', 'Pay the overdue amount') : button('fail', 'Make the next payment fail')}
</div>`;
}
