/** Every text that visitors, tenants and collaborators write is text on each page that shows it, whatever it contains. */
import { Parser } from 'htmlparser2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callWith } from '#test/api/fixture.ts';
import type { Browser } from '#test/people/browser.ts';
import { payloads } from './payloads.ts';
import { openPottery, type Pottery } from './pottery.ts';
import { signedIn } from './session.ts';

let pottery: Pottery;
let browser: Browser;
let usual: Shown;
beforeAll(async () => {
  pottery = await openPottery({ browser: false });
  const { owner, site, collaborator } = await pottery.newBusiness();
  await collaborator.call('POST', `/v1/sites/${site.id}/comments`, { body: { page: '/', body: 'Lighter, please' } });
  await owner.call('POST', `/v1/sites/${site.id}/upload-links`, { body: {} });
  const review = await owner.call('POST', `/v1/sites/${site.id}/review-links`, { body: {} });
  await callWith(pottery.url)('POST', '/review/threads', {
    body: { page: '/', body: 'Larger', position: {}, author_name: 'Ann' },
    headers: { 'x-review': review.body.url.split('/').at(-1) },
  });
  await owner.call('POST', '/v1/git/credentials', { body: {} });
  browser = await signedIn(pottery, owner.accountId);
  usual = await crawl();
  await dropChecks();
}, 180_000);
afterAll(() => pottery?.close());

/** Columns that people, programs and other servers fill with words; `*`: names and answers inside the JSON. */
const columns: Record<string, string[]> = {
  account: ['name'],
  bookable: ['services*'],
  booking: ['visitor_name'],
  calendar: ['name'],
  comment_message: ['body', 'author_name'],
  comment_thread: ['page'],
  form: ['name'],
  history_entry: ['via_name', 'subject_name'],
  payment: ['description', 'reference'],
  payout_account: ['name'],
  site: ['title'],
  submission: ['values*', 'page'],
  token: ['name'],
};

/** Without the rules of the tables, so that the pages alone have to hold. */
async function dropChecks(): Promise<void> {
  const em = pottery.deps.em();
  const checks = await em.execute<{ on: string; name: string }[]>(
    `select conrelid::regclass::text as "on", conname as name from pg_constraint
     where contype = 'c' and conrelid::regclass::text = any(?)`,
    [`{${Object.keys(columns).join(',')}}`],
  );
  for (const { on, name } of checks) await em.execute(`alter table "${on}" drop constraint "${name}"`);
}

/** The string of `["topic", "…"]` and of `"name": "…"`. */
const inJson = String.raw`(\["\w+", |"name": )"(?:[^"\\]|\\.)*"`;

/** Puts the word into all of them, each with the column's name before it. */
async function write(word: string): Promise<void> {
  for (const [table, names] of Object.entries(columns)) {
    for (const name of names) {
      const column = name.replace('*', '');
      // A page begins with a slash by the rules of the API; the rest may be anything.
      const text = `${column === 'page' ? '/' : ''}${table}.${column} ${word}`;
      const sql = name.endsWith('*')
        ? `update "${table}" set "${column}" = regexp_replace("${column}"::text, ?, ?, 'g')::jsonb`
        : `update "${table}" set "${column}" = ?`;
      const quoted = `\\1${JSON.stringify(text).replaceAll('\\', '\\\\')}`;
      await pottery.deps.em().execute(sql, [...(name.endsWith('*') ? [inJson, quoted] : [text])]);
    }
  }
}

type Shown = { pages: string[]; text: string; markup: Set<string>; leads: Set<string> };

/** All pages that links lead to from the account's, at most two of each kind. */
async function crawl(): Promise<Shown> {
  const kinds = new Map<string, number>();
  const left = ['/account'];
  const seen = new Set(left);
  const shown: Shown = { pages: [], text: '', markup: new Set(), leads: new Set() };
  for (let path = left.shift(); path !== undefined; path = left.shift()) {
    const page = await browser.open(path);
    if (!page.headers.get('content-type')?.startsWith('text/html')) continue;
    shown.pages.push(path);
    for (const href of read(page.text, shown)) {
      const to = new URL(href, `http://console.localhost${path}`);
      const kind = to.pathname.replaceAll(/[a-z]+_[0-9a-z]{20,}|\d+/g, '*');
      // The site of this test has no repository to export.
      if (!to.pathname.startsWith('/account') || to.pathname.endsWith('/export')) continue;
      if (seen.has(to.pathname + to.search)) continue;
      seen.add(to.pathname + to.search);
      if ((kinds.get(kind) ?? 0) >= 2) continue;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      left.push(to.pathname + to.search);
    }
  }
  return shown;
}

const urls = new Set(['href', 'src', 'srcset', 'action', 'formaction', 'data', 'poster', 'xlink:href']);

/** Adds what the page shows, which elements with which attributes it has, and where these lead. Returns its links. */
function read(html: string, shown: Shown): string[] {
  const links: string[] = [];
  let inside = '';
  const parser = new Parser({
    onopentag(name, attributes) {
      inside = name;
      shown.markup.add(name);
      for (const [key, value] of Object.entries(attributes)) {
        shown.markup.add(`${name} ${key}`);
        if (key === 'style') shown.leads.add(`style ${value.replaceAll(/[\d.]+/g, '0')}`);
        if (!urls.has(key)) continue;
        const to = URL.parse(value, 'http://console.localhost');
        shown.leads.add(`${name} ${key} ${to ? `${to.protocol}//${to.host}` : value}`);
        if (name === 'a' && key === 'href') links.push(value);
      }
    },
    ontext(text) {
      shown.text += text;
      if (inside === 'script' || inside === 'style') shown.leads.add(`${inside} ${text}`);
    },
    onclosetag() {
      inside = '';
    },
  });
  parser.end(html);
  return links;
}

test('the crawl reaches the pages of the account and of the site', () => {
  const kinds = new Set(usual.pages.map((path) => path.replaceAll(/[a-z]+_[0-9a-z]{20,}/g, '*').replace(/\?.*/, '')));
  expect(kinds.size).toBeGreaterThan(25);
  expect(payloads).toHaveLength(60);
});

const groups = Array.from({ length: 6 }, (_, at) => payloads.slice(at * 10, at * 10 + 10));

test.each(groups.map((group, at) => [at, group] as const))(
  'no page of the console shows hostile words as markup (group %s)',
  { timeout: 60_000 },
  async (_at, group) => {
    await write(group.join(' '));
    const hostile = await crawl();
    const more = (now: Set<string>, before: Set<string>) => [...now].filter((one) => !before.has(one));
    expect(more(hostile.markup, usual.markup)).toEqual([]);
    expect(more(hostile.leads, usual.leads)).toEqual([]);
    expect(hostile.pages.length).toBeGreaterThan(25);
    const names = Object.entries(columns).flatMap(([table, own]) =>
      own.map((one) => `${table}.${one.replace('*', '')}`),
    );
    const unseen = names.filter((name) => !hostile.text.includes(`${name} `));
    expect(unseen).toEqual([]);
  },
);
