/** The mailbox as pages and as JSON. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { html } from '#web/html.ts';
import { type Page, writePage } from '#web/page.ts';
import type { CaughtMail, Mailbox } from './mailbox.ts';

export async function startMailboxPages({ port, mailbox }: { port: number; mailbox: Mailbox }) {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://mailbox');
    // A page that points its own name here (DNS rebinding) must not read sign-in links.
    const isHere = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(request.headers.host ?? '');
    if (!isHere) send(response, 403, 'text/plain', 'Open the mailbox at localhost.\n');
    else if (request.method === 'GET' || request.method === 'HEAD') answer(response, url, mailbox);
    else send(response, 405, 'text/plain', 'Only GET and HEAD are allowed.\n');
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', listening);
  });
  return { port: portOf(server), close: () => closeServer(server) };
}

function answer(response: ServerResponse, { pathname, searchParams }: URL, mailbox: Mailbox): void {
  const to = searchParams.get('to') ?? undefined;
  const [, id = '', part] = /^\/messages\/([a-z0-9-]+)(?:\/(html))?$/.exec(pathname) ?? [];
  const mail = mailbox.get(id);
  if (pathname === '/') sendPage(response, 200, mailboxPage(mailbox.list(to), to));
  else if (pathname === '/messages') sendJson(response, { items: mailbox.list(to) });
  else if (!mail) sendPage(response, 404, noSuchMail);
  else if (part === 'html') sendMailHtml(response, mail);
  else sendPage(response, 200, mailPage(mail), "frame-src 'self'");
}

/** As a mail client shows it: no scripts, nothing loaded, links open in a new tab. */
function sendMailHtml(response: ServerResponse, mail: CaughtMail): void {
  response.setHeader(
    'content-security-policy',
    "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-popups allow-popups-to-escape-sandbox",
  );
  const body = mail.html.replace(/<head>/i, '<head><base target="_blank" rel="noopener">');
  send(response, 200, 'text/html; charset=utf-8', body);
}

function mailboxPage(mails: CaughtMail[], to: string | undefined): Page {
  const row = (mail: CaughtMail) => html`<li><a href="/messages/${mail.id}"><strong>${mail.subject}</strong></a>
<small>${mail.to.join(', ')}<br><time>${when(mail)}</time></small></li>`;
  return {
    title: 'Mailbox',
    layout: 'dashboard',
    main: html`<h1>Mailbox</h1>
<p class="lead">${to === undefined ? 'All e-mails that this machine would have sent. None of them are delivered.' : `E-mails to ${to}.`}</p>
${mails.length > 0 ? html`<ul class="rows">${mails.map(row)}</ul>` : html`<p class="empty">No e-mails yet. Reload the page to check again.</p>`}`,
  };
}

function mailPage(mail: CaughtMail): Page {
  return {
    title: mail.subject,
    layout: 'dashboard',
    bar: html`<a href="/">Mailbox</a>`,
    main: html`<h1>${mail.subject}</h1>
<dl class="facts"><dt>From</dt><dd>${mail.headers.from ?? mail.from}</dd><dt>To</dt><dd>${mail.to.join(', ')}</dd><dt>Sent</dt><dd><time>${when(mail)}</time></dd></dl>
<iframe src="/messages/${mail.id}/html" sandbox="allow-popups allow-popups-to-escape-sandbox" title="The e-mail as HTML" width="100%" height="640" frameborder="0"></iframe>
<section><h2>Plain text</h2><pre class="panel">${mail.text}</pre></section>`,
  };
}

const noSuchMail: Page = {
  title: 'We can’t find this e-mail',
  layout: 'message',
  main: html`<h1>We can’t find this e-mail</h1><p>The mailbox has no e-mail with this id.</p><p><a href="/">Back to the mailbox</a></p>`,
};

const when = ({ received_at }: CaughtMail) => received_at.replace('T', ' ').slice(0, 19).concat(' UTC');

function sendPage(response: ServerResponse, status: number, page: Page, extraPolicy = ''): void {
  const { body, headers } = writePage(page);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader(
    'content-security-policy',
    [headers['content-security-policy'], extraPolicy].filter(Boolean).join('; '),
  );
  send(response, status, 'text/html; charset=utf-8', body);
}

function sendJson(response: ServerResponse, value: unknown): void {
  send(response, 200, 'application/json', JSON.stringify(value));
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}
