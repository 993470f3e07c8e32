/**
 * The layout of every mail: a list of blocks, rendered as plain text and as HTML. No pictures, no tracking, nothing loaded.
 * Mail clients drop style sheets to different degrees, so styles are inline; the style sheet only adds dark colours.
 */
import { type Html, html } from '#web/html.ts';

export type Attachment = { filename: string; contentType: string; content: string };

export type WrittenMail = {
  subject: string;
  /** Of a mail about a website: the sender's name begins with it. */
  hostname?: string;
  text: string;
  html: string;
  attachments?: readonly Attachment[];
};

export type Block =
  | string
  | { button: { label: string; url: string } }
  | { facts: readonly (readonly [label: string, value: string])[] }
  /** To be typed on the page that the button opens. */
  | { code: string }
  /** Text by somebody else, marked so that it cannot be mistaken for ours. */
  | { quote: string };

export type Content = {
  /** What happened, in our own words where the recipient has no account. */
  subject: string;
  /** Of a mail about a website: the subject begins with it, and it is shown above the heading in place of the product's name. */
  hostname?: string;
  /** Inboxes show it after the subject. */
  preview: string;
  heading: string;
  blocks: readonly Block[];
  /** Why this address received the mail. */
  footer: string;
  /** Of a mail that the owner can switch off: the page where they do; null where owners cannot sign in. */
  choices?: string | null | undefined;
};

/** Renders both versions. Any text may come from a stranger, so invisible characters are removed and HTML is escaped. */
export function write(content: Content): WrittenMail {
  const { hostname } = content;
  const about = hostname === undefined ? {} : { hostname: oneLine(hostname) };
  const subject = shortened(oneLine(hostname === undefined ? content.subject : `${hostname}: ${content.subject}`));
  return { subject, ...about, text: writeText(content), html: writeHtml(subject, content) };
}

/** A button to the owner's page; none where owners cannot sign in. */
export function accountButton(account: string | null | undefined, label: string): Block[] {
  return account ? [{ button: { label, url: account } }] : [];
}

/** How a visitor reaches the people of a site. */
export type Reach = {
  /** The site's URL. */
  address: string;
  /** Whether visitors cannot open it. Absent in e-mails of earlier releases. */
  isClosed?: boolean;
  /** Where the visitor's replies go. */
  replyTo?: string;
};

/** A line with the address to open for this purpose; while the site is closed, with the e-mail address to write to, if there is one. */
export function reachBlocks(
  { address, isClosed = false, replyTo }: Reach,
  purpose: string,
  ifClosed = purpose,
): Block[] {
  if (!isClosed) return [`To ${purpose}, go to ${address}`];
  return replyTo === undefined ? [] : [`To ${ifClosed}, write to ${replyTo}`];
}

const invisible =
  /[^\P{Cc}\n]|[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Without control characters (except line feeds), bidirectional controls and characters that are not shown. */
function visible(text: string): string {
  return text.toWellFormed().replace(invisible, '');
}

/** For a value inside our own line: a second line would look like ours. */
function oneLine(text: string): string {
  return visible(text).replace(/\s+/g, ' ');
}

const subjectMax = 200;

/** Without half of a character at the end. */
const shortened = (subject: string): string => subject.slice(0, subjectMax).replace(/\p{Cs}$/u, '');

function writeText({ heading, blocks, footer, choices }: Content): string {
  const foot = choices ? `${visible(footer)}\n${choicesLabel}: ${choices}` : visible(footer);
  const parts = [visible(heading), ...blocks.map(blockText), `-- \n${foot}`];
  return `${parts.join('\n\n')}\n`;
}

const choicesLabel = 'Choose which e-mails you get';

function blockText(block: Block): string {
  if (typeof block === 'string') return visible(block);
  if ('button' in block) return `${block.button.label}:\n${block.button.url}`;
  if ('code' in block) return `Code: ${block.code}`;
  if ('quote' in block) {
    return visible(block.quote)
      .split('\n')
      .map((line) => `> ${line}`)
      .join('\n');
  }
  return block.facts.map(([label, value]) => `${oneLine(label)}: ${oneLine(value)}`).join('\n');
}

const font = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const paragraph = `margin:0 0 16px;${font};font-size:17px;line-height:1.55;color:#23211d`;

function writeHtml(subject: string, content: Content): string {
  const { hostname = 'Frontage', preview, heading, blocks, footer, choices } = content;
  const title = `margin:0 0 20px;${font};font-size:24px;line-height:1.25;font-weight:600;color:#23211d;overflow-wrap:anywhere`;
  const small = `margin:20px 4px 0;${font};font-size:14px;line-height:1.5;color:#5f5a50;overflow-wrap:anywhere`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${subject}</title>
<style>
@media (prefers-color-scheme: dark) {
  .paper { background: #191816 !important; }
  .card { background: #211f1c !important; border-color: #38342d !important; }
  .ink { color: #f1ede4 !important; }
  .quiet { color: #b0a999 !important; }
  .mark, .link { color: #e58f77 !important; }
  .rule { border-color: #38342d !important; }
}
</style>
</head>
<body class="paper" style="margin:0;padding:0;background:#f7f4ee">
<div style="display:none;max-height:0;overflow:hidden">${visible(preview)}</div>
<table role="presentation" class="paper" width="100%" cellpadding="0" cellspacing="0" style="background:#f7f4ee">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px">
<tr><td class="mark" style="padding:0 4px 12px;${font};font-size:15px;font-weight:600;color:#8b3320">${visible(hostname)}</td></tr>
<tr><td class="card" style="padding:28px 24px 12px;background:#fffdf9;border:1px solid #e2dac9;border-radius:10px">
<h1 class="ink" style="${title}">${unbroken(visible(heading))}</h1>
${blocks.map(blockHtml)}
</td></tr>
<tr><td><p class="quiet" style="${small}">${visible(footer)}${choices ? html` <a class="link" href="${choices}" style="color:#8b3320">${choicesLabel}</a>.` : null}</p></td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`.markup;
}

/** Narrow windows would break the line after a hyphen: `e-` and `mail`. */
function unbroken(text: string): Html[] {
  return text
    .split(/(\be-mails?\b)/i)
    .map((part, at) => (at % 2 === 0 ? html`${part}` : html`<span style="white-space:nowrap">${part}</span>`));
}

function blockHtml(block: Block): Html {
  if (typeof block === 'string')
    return html`<p class="ink" style="${paragraph};overflow-wrap:anywhere">${visible(block)}</p>\n`;
  if ('button' in block) return button(block.button);
  if ('code' in block) return code(block.code);
  if ('quote' in block) {
    const quoted = `margin:0 0 16px;padding:2px 0 2px 14px;border-left:3px solid #e2dac9`;
    return html`<blockquote class="rule" style="${quoted}"><p class="ink" style="${paragraph};margin:0;white-space:pre-line;overflow-wrap:anywhere">${visible(block.quote)}</p></blockquote>\n`;
  }
  return facts(block.facts);
}

/** The URL is repeated below, for mail clients that show no button and for readers who check it first. */
function button({ label, url }: { label: string; url: string }): Html {
  const cell = 'background:#a8412a;border-radius:8px';
  const anchor = `display:inline-block;padding:14px 22px;${font};font-size:17px;font-weight:600;color:#ffffff;text-decoration:none`;
  const plain = `margin:0 0 20px;${font};font-size:14px;line-height:1.5;color:#5f5a50;overflow-wrap:anywhere;word-break:break-all`;
  return html`<table role="presentation" cellpadding="0" cellspacing="0" style="margin:4px 0 12px"><tr><td style="${cell}"><a href="${url}" style="${anchor}">${label}</a></td></tr></table>
<p class="quiet" style="${plain}">or open <a class="link" href="${url}" style="color:#8b3320">${url}</a></p>
`;
}

function code(text: string): Html {
  const label = `margin:0 0 4px;${font};font-size:15px;color:#5f5a50`;
  const letters = `margin:0 0 20px;font-family:ui-monospace,'SF Mono',Menlo,Consolas,monospace;font-size:24px;line-height:1.4;font-weight:600;letter-spacing:0.18em;color:#23211d`;
  return html`<p class="quiet" style="${label}">Code</p><p class="ink" style="${letters}">${text}</p>\n`;
}

function facts(rows: readonly (readonly [string, string])[]): Html {
  const label = `padding:6px 14px 6px 0;${font};font-size:15px;color:#5f5a50;vertical-align:top;white-space:nowrap`;
  const value = `padding:6px 0;${font};font-size:15px;color:#23211d;overflow-wrap:anywhere;word-break:break-word`;
  return html`<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px">${rows.map(
    ([name, text]) =>
      html`<tr><td class="quiet" style="${label}">${visible(name)}</td><td class="ink" style="${value}">${visible(text)}</td></tr>`,
  )}</table>\n`;
}
