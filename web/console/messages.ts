/** Messages: what visitors sent with the forms of a site. */
import { type Html, html, linesHtml } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { relative } from '#web/times.ts';
import { type SiteFrame, sitePage, siteQuestion } from './frame.ts';
import { ago, button, choices, hiddenFields, olderLink, short } from './parts.ts';
import { sitePath } from './tabs.ts';

/** A form, as the API answers it. */
export type FormShown = {
  id: string;
  name: string;
  status: 'enabled' | 'disabled';
  submissions: number;
  fields: readonly { name: string; label: string; kind: string }[];
};
/** A submission, as the API answers it. */
export type MessageShown = {
  id: string;
  form_id: string;
  fields: Readonly<Record<string, string | readonly string[]>>;
  page: string | null;
  created_at: string;
  expires_at: string;
  spam: boolean;
};

export type MessagesView = {
  forms: readonly FormShown[];
  /** The form whose messages are listed; null if the site has no form. */
  chosen: FormShown | null;
  spam: boolean;
  messages: readonly MessageShown[];
  /** Ids of messages that wait in the inbox. */
  unread: ReadonlySet<string>;
  cursor: string | null;
};

export function messagesPage(frame: SiteFrame, view: MessagesView): WrittenPage {
  const { chosen } = view;
  const inside = chosen
    ? list(frame, view, chosen)
    : html`<p class="panel empty">This site has no form yet. Ask your agent for one, such as a contact form. Then visitors’ messages appear here.</p>`;
  return sitePage(frame, 'messages', {
    title: 'Messages',
    main: html`<div class="head"><h1>Messages</h1>
<p class="lead">What visitors sent with the forms of this site. A message that you open is marked as read.</p></div>${inside}`,
  });
}

const listPath = ({ site }: SiteFrame, formId: string, spam: boolean) =>
  `${sitePath(site.id, 'messages')}?form=${formId}${spam ? '&spam=true' : ''}`;

function list(frame: SiteFrame, { forms, spam, messages, unread, cursor }: MessagesView, chosen: FormShown): Html {
  const base = sitePath(frame.site.id, 'messages');
  const others = forms.map((one) => ({
    href: listPath(frame, one.id, false),
    words: one.name,
    current: one.id === chosen.id && !spam,
  }));
  const nav = [...others, { href: listPath(frame, chosen.id, true), words: 'Spam', current: spam }];
  const file = (ofSpam: boolean) => `${base}/file?form=${chosen.id}${ofSpam ? '&spam=true' : ''}`;
  const fresh = messages.filter(({ id }) => unread.has(id));
  return html`${choices('Forms', nav)}
${chosen.status === 'disabled' ? html`<p class="hint">This form is switched off: visitors cannot send anything with it. <a href="${sitePath(frame.site.id, 'settings')}#forms">Switch it on</a></p>` : null}
<section><h2>${spam ? html`Spam in “${chosen.name}”` : chosen.name}</h2>
${messages.length === 0 ? html`<p class="panel empty">${spam ? 'No spam.' : 'No messages. What visitors send with this form appears here.'}</p>` : html`<ul class="rows">${messages.map((message) => row(frame, message, { chosen, isNew: unread.has(message.id) }))}</ul>`}
<div class="actions">
${fresh.length > 0 ? readButton(frame, fresh) : null}
${messages.length > 0 ? html`<a class="button quiet small" href="${file(spam)}" download>Download as CSV</a>` : null}
</div>
${messages.length > 0 ? html`<p class="hint">${fileWords(chosen, spam)}${spam ? null : html` <a href="${file(true)}" download>Download the spam as CSV</a>`}</p>` : null}
${olderLink(listPath(frame, chosen.id, spam), cursor)}</section>`;
}

const fileWords = ({ name }: FormShown, spam: boolean) =>
  spam
    ? `The file has all spam of “${name}”, and no other messages.`
    : `The file has all messages of “${name}”, also older ones, but no spam.`;

function row(frame: SiteFrame, message: MessageShown, { chosen, isNew }: { chosen: FormShown; isNew: boolean }): Html {
  const { title, excerpt } = summaryOf(message, chosen);
  return html`<li>
<div><strong><a href="${sitePath(frame.site.id, 'messages')}/${message.id}">${title}</a>${isNew ? html` <span class="tag">New</span>` : null}</strong>
${excerpt === '' ? null : html`<small>${excerpt}</small>`}</div>
<small>${ago(message.created_at, frame.now)}</small>
</li>`;
}

function readButton({ form, site }: SiteFrame, messages: readonly MessageShown[]): Html {
  const ids = messages.map(({ id }) => hiddenFields({ id }));
  const words = messages.length === 1 ? 'Mark as read' : `Mark ${messages.length} as read`;
  return form(
    { action: `${sitePath(site.id, 'messages')}/read`, inline: true },
    html`${ids}<button class="quiet small">${words}</button>`,
  );
}

/** The first line of a message in a list: who wrote, and the start of the longest answer. */
export function summaryOf({ fields }: MessageShown, form: FormShown): { title: string; excerpt: string } {
  const texts = form.fields.flatMap(({ name, kind }) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return typeof value === 'string' && value !== '' ? [{ kind, value }] : [];
  });
  const title = texts.find(({ kind }) => kind === 'text') ?? texts.find(({ kind }) => kind === 'email') ?? texts[0];
  const rest = texts.filter((one) => one !== title).map(({ value }) => value);
  const longest = rest.reduce((best, text) => (text.length > best.length ? text : best), '');
  return { title: short(title?.value ?? 'No name', 80), excerpt: short(longest, 160) };
}

export type MessageView = { chosen: FormShown; message: MessageShown };

export function messagePage(frame: SiteFrame, { chosen, message }: MessageView): WrittenPage {
  const { form, now, site } = frame;
  const path = `${sitePath(site.id, 'messages')}/${message.id}`;
  const { title } = summaryOf(message, chosen);
  const address = addressIn(message, chosen);
  const { spam } = message;
  const list = html`<a href="${listPath(frame, chosen.id, spam)}">${spam ? html`Spam in “${chosen.name}”` : html`“${chosen.name}”`}</a>`;
  const mark = button(form, `${path}/spam`, spam ? 'Not spam' : 'Mark as spam', {
    hidden: { spam: spam ? 'no' : 'yes' },
    quiet: !spam,
  });
  const reply =
    address === null
      ? null
      : html`<a class="button small${spam ? ' quiet' : ''}" href="mailto:${encodeURIComponent(address).replaceAll('%40', '@')}">Reply by e-mail</a>`;
  const main = html`<h1>${title}</h1>
<p class="hint">${list} · sent ${ago(message.created_at, now)}${message.page === null ? null : html` on the page ${message.page}`} · will be deleted ${relative(new Date(message.expires_at), now)}</p>
<div class="panel"><dl class="facts">${answers(message, chosen)}</dl></div>
<div class="actions">
${spam ? [mark, reply] : [reply, mark]}
<a class="button quiet small" href="${path}/delete">Delete</a>
</div>`;
  return sitePage(frame, 'messages', { title, main });
}

/** The fields of the form in their order, then those that it no longer has. */
function answers({ fields }: MessageShown, { fields: declared }: FormShown): Html[] {
  const known = new Set(declared.map(({ name }) => name));
  const gone = Object.keys(fields).filter((name) => !known.has(name));
  const rows = [...declared, ...gone.map((name) => ({ name, label: name }))];
  return rows
    .filter(({ name }) => Object.hasOwn(fields, name))
    .map(({ name, label }) => html`<dt>${label}</dt><dd>${valueHtml(fields[name])}</dd>`);
}

function valueHtml(value: string | readonly string[] | undefined): Html {
  if (value === undefined || value.length === 0) return html`–`;
  return typeof value === 'string' ? html`${linesHtml(value)}` : html`${value.join(', ')}`;
}

/** The address that the visitor typed, for a mailto link. */
function addressIn({ fields }: MessageShown, { fields: declared }: FormShown): string | null {
  const field = declared.find(({ kind }) => kind === 'email');
  const value = field && Object.hasOwn(fields, field.name) ? fields[field.name] : undefined;
  return typeof value === 'string' && value !== '' ? value : null;
}

export function messageDeletionPage(frame: SiteFrame, { chosen, message }: MessageView): WrittenPage {
  const path = `${sitePath(frame.site.id, 'messages')}/${message.id}`;
  const asked = {
    title: 'Delete this message?',
    text: html`The message from <strong>${summaryOf(message, chosen).title}</strong> will be deleted for good. The e-mail about it stays in your mailbox. The visitor gets no e-mail about it.`,
    action: `${path}/delete`,
    button: 'Delete the message',
    back: path,
  };
  return siteQuestion(frame, 'messages', asked);
}
