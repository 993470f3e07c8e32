/** Our own Markdown as HTML. The parser is a library; every element is written by our templates, so nothing passes unescaped. */
import { Marked, type Token, type Tokens } from 'marked';
import { type Html, html } from './html.ts';

export type Heading = { level: number; text: string; id: string };
/** Where links lead and which pictures there are; null for those that have no target here: then only their text is shown. */
export type Targets = {
  link(href: string): string | null;
  picture?(href: string): { src: string; width: number; height: number } | null;
};

/** The link itself if it leads to another site or is a path on this one. */
export const outsideLink = (href: string): string | null => (/^(https?:\/\/|#|\/(?!\/))/.test(href) ? href : null);

const parser = new Marked({ gfm: true });

/** The document, and its headings in order. HTML in it is shown as text; comments are left out. */
export function markdownHtml(
  text: string,
  targets: Targets = { link: outsideLink },
): { body: Html; headings: Heading[] } {
  const headings: Heading[] = [];
  const render = createRenderer(targets, headings);
  return { body: html`${render(parser.lexer(text))}`, headings };
}

/** Writes tokens, and collects the headings among them. */
function createRenderer(targets: Targets, headings: Heading[]): (tokens?: Token[]) => Html[] {
  const ids = new Set<string>();
  const all = (tokens: Token[] = []): Html[] => tokens.map((token) => (blocks[token.type] ?? inline)(token as never));

  const blocks: Record<string, (token: never) => Html> = {
    heading({ depth, tokens, text }: Tokens.Heading) {
      const id = uniqueId(text, ids);
      headings.push({ level: depth, text: plain(tokens), id });
      return headingHtml(depth, id, all(tokens));
    },
    paragraph: ({ tokens }: Tokens.Paragraph) => html`<p>${all(tokens)}</p>\n`,
    code: ({ text }: Tokens.Code) => html`<pre tabindex="0"><code>${text}</code></pre>\n`,
    blockquote: ({ tokens }: Tokens.Blockquote) => html`<blockquote>${all(tokens)}</blockquote>\n`,
    list({ ordered, items }: Tokens.List) {
      const rows = items.map(({ tokens }) => html`<li>${all(tokens)}</li>\n`);
      return ordered ? html`<ol>${rows}</ol>\n` : html`<ul>${rows}</ul>\n`;
    },
    table({ header, rows }: Tokens.Table) {
      const head = header.map(({ tokens }) => html`<th scope="col">${all(tokens)}</th>`);
      const body = rows.map((row) => html`<tr>${row.map(({ tokens }) => html`<td>${all(tokens)}</td>`)}</tr>\n`);
      return html`<div class="wide" role="group" tabindex="0" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>\n`;
    },
    hr: () => html`<hr>\n`,
    space: () => html``,
    strong: ({ tokens }: Tokens.Strong) => html`<strong>${all(tokens)}</strong>`,
    em: ({ tokens }: Tokens.Em) => html`<em>${all(tokens)}</em>`,
    del: ({ tokens }: Tokens.Del) => html`<del>${all(tokens)}</del>`,
    codespan: ({ text }: Tokens.Codespan) => html`<code>${text}</code>`,
    br: () => html`<br>`,
    link({ href, tokens }: Tokens.Link) {
      const to = targets.link(href);
      return to === null ? html`${all(tokens)}` : html`<a href="${to}">${all(tokens)}</a>`;
    },
    image({ href, text }: Tokens.Image) {
      const picture = targets.picture?.(href);
      if (!picture) return html`${text}`;
      const { src, width, height } = picture;
      return html`<img src="${src}" width="${width}" height="${height}" alt="${text}" loading="lazy">`;
    },
    html: ({ text }: Tokens.HTML) => (/^<!--/.test(text) ? html`` : html`${text}`),
  };

  function inline(token: Tokens.Text): Html {
    return token.tokens ? html`${all(token.tokens)}` : html`${token.text}`;
  }

  return all;
}

function headingHtml(level: number, id: string, inside: Html[]): Html {
  if (level === 1) return html`<h1 id="${id}">${inside}</h1>\n`;
  if (level === 2) return html`<h2 id="${id}">${inside}</h2>\n`;
  return level === 3 ? html`<h3 id="${id}">${inside}</h3>\n` : html`<h4 id="${id}">${inside}</h4>\n`;
}

/** As GitHub makes them, so that links between documents work in both places. */
function uniqueId(text: string, taken: Set<string>): string {
  const usual = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
  const id = [usual, ...Array.from(taken, (_one, at) => `${usual}-${at + 1}`)].find((one) => !taken.has(one)) ?? usual;
  taken.add(id);
  return id;
}

const plain = (tokens: Token[]): string =>
  tokens
    .map((token) => ('tokens' in token && token.tokens ? plain(token.tokens) : 'text' in token ? token.text : ''))
    .join('');
