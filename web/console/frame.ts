/** What every page of the console has: the header with the account's menu, the tabs, notices and faults. */
import { readFileSync } from 'node:fs';
import { copyableScript, copyableStyle } from '#web/copyable.ts';
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { type Form, fault } from '#web/pages/form.ts';
import { hostOf, type Question, question } from './parts.ts';
import { type AccountTab, accountTabs, type SiteTab, sitePath, siteTabs, type Tab } from './tabs.ts';

const style = ['console', 'business']
  .map((name) => readFileSync(new URL(`./${name}.css`, import.meta.url), 'utf8'))
  .join('');

/** A refused form: its action, what was wrong, and what was typed. */
export type Refused = {
  /** The code of the refusal, if a call was refused. */
  code?: string;
  /** The HTTP status. */
  status: number;
  action: string;
  /** One sentence. */
  text: string;
  /** The field that was wrong, and how, as in "must not be empty"; `words` is null if the text says it. */
  field: { name: string; words: string | null } | null;
  values: Readonly<Record<string, readonly string[]>>;
};

/** `form`: creates the forms of this page. */
export type Frame = {
  form: Form;
  now: Date;
  account: { name: string; email: string };
  /** What the action before did. It is shown once. */
  notice: string | null;
  refused: Refused | null;
};

export type SiteHead = {
  id: string;
  title: string;
  address: string;
  role: 'owner' | 'collaborator';
  archived: boolean;
  /** Why the operator has blocked it. */
  blocked: string | null;
};
export type SiteFrame = Frame & { site: SiteHead };

type Content = {
  title: string;
  main: Html;
  /** Whether it has texts to copy. */
  copies?: boolean;
  /** Additional styles of this page. */
  style?: string;
  /** Paths of modules on our own origin. */
  modules?: readonly string[];
  /** Reloads the page after so many seconds, where scripts do not run. */
  refreshSeconds?: number;
};

/** A page of the account. `tab` is null on a page that no tab leads to. */
export function accountPage(frame: Frame, tab: AccountTab | null, content: Content): WrittenPage {
  const nav = html`<nav class="tabs" aria-label="Your account">${tabs(accountTabs, tab, '')}</nav>`;
  return page(frame, content, nav);
}

/** A page of a site. `tab` is that of the page, or of the page that leads to it. */
export function sitePage(frame: SiteFrame, tab: SiteTab, content: Content): WrittenPage {
  const { id, title } = frame.site;
  const nav = html`<nav class="tabs" aria-label="This site">${siteHead(frame.site)}${siteMenu(tab, id)}</nav>`;
  return page(frame, { ...content, title: `${content.title} – ${title}` }, nav);
}

/** A page of the account that asks before an action. */
export const accountQuestion = (frame: Frame, tab: AccountTab | null, asked: Question): WrittenPage =>
  accountPage(frame, tab, { title: asked.title, main: question(asked, frame.form) });

/** A page of a site that asks before an action. */
export const siteQuestion = (frame: SiteFrame, tab: SiteTab, asked: Question): WrittenPage =>
  sitePage(frame, tab, { title: asked.title, main: question(asked, frame.form) });

function siteHead({ title, address, role, archived, blocked }: SiteHead): Html {
  const tags = [...(role === 'collaborator' ? ['Collaborator'] : []), ...(archived ? ['Archived'] : [])];
  return html`<div class="site-head"><p class="back"><a href="/account">All sites</a></p>
<p class="site-title">${title}</p>
<p class="site-address"><a href="${address}" rel="noopener noreferrer">${hostOf(address)}</a>${tags.map((tag) => html` <span class="tag">${tag}</span>`)}</p>
${blocked === null ? null : html`<p class="fault">Blocked by the operator of this service: ${blocked}</p>`}</div>
`;
}

function page({ account, form, notice, refused }: Frame, content: Content, above: Html): WrittenPage {
  const { title, main, copies = false, style: own = '', modules = [], refreshSeconds } = content;
  return writePage({
    title: `${title} – Frontage`,
    main: html`${notice === null ? null : html`<p class="notice" role="status">${notice}</p>`}${fault(refused?.text)}${main}`,
    layout: 'console',
    home: '/account',
    bar: menu(account, form),
    above,
    form: true,
    style: `${style}${copies ? copyableStyle : ''}${own}`,
    ...(copies ? { script: copyableScript } : {}),
    modules,
    ...(refreshSeconds ? { refreshSeconds } : {}),
  });
}

function tabs(rows: readonly Tab[], current: string | null, before: string): Html {
  return html`<ul>${rows.map(
    ({ name, text, path }) =>
      html`<li><a href="${before}${path}"${name === current ? html` aria-current="page"` : null} data-text="${text}">${text}</a></li>`,
  )}</ul>`;
}

/** The tabs do not fit a phone, which has a list of them behind the name of the current one. CSS shows one of both. */
function siteMenu(current: SiteTab, id: string): Html {
  const list = tabs(siteTabs, current, sitePath(id));
  const { text } = siteTabs.find(({ name }) => name === current) ?? siteTabs[0];
  return html`<details class="menu tab-menu"><summary><span class="unseen">Pages of this site: </span>${text}</summary><div>${list}</div></details>${list}`;
}

function menu(account: Frame['account'], form: Form): Html {
  return html`<details class="menu">
<summary>${account.name}</summary>
<div><p class="hint">${account.email}</p>
<ul>${accountTabs.map(({ text, path }) => html`<li><a href="${path}">${text === 'Home' ? 'All sites' : text}</a></li>`)}</ul>
${form({ action: '/signout' }, html`<button class="quiet small">Sign out</button>`)}</div>
</details>`;
}
