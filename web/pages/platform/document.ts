/** A page of the documentation: the contents at the side, or on a phone below the text. */
import { readFileSync } from 'node:fs';
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';

const style = readFileSync(new URL('./document.css', import.meta.url), 'utf8');

export type Contents = readonly { name: string; pages: readonly { title: string; path: string }[] }[];

/** `path`: the page's own, which the contents mark. */
export function documentPage(page: { title: string; path: string; contents: Contents; article: Html }): WrittenPage {
  const { title, path, contents, article } = page;
  const link = (one: { title: string; path: string }) =>
    html`<li><a href="${one.path}"${one.path === path ? html` aria-current="page"` : null}>${one.title}</a></li>`;
  return writePage({
    title: `${title} – Frontage`,
    layout: 'document',
    home: '/',
    style,
    isFindable: true,
    bar: html`<nav aria-label="Platform"><a class="to-contents" href="#contents">Contents</a><a href="/account">Your account</a></nav>`,
    main: html`<article>
${article}
</article>
<nav id="contents" aria-label="Documentation">${contents.map(
      ({ name, pages }) => html`<h2>${name}</h2>\n<ul>${pages.map(link)}</ul>\n`,
    )}</nav>`,
  });
}
