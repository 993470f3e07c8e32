/**
 * Attacks on the pages of the console: every text that visitors, tenants and collaborators write is text on each page
 * that shows it, no page can be framed, and no form acts for another site.
 */
import { Parser } from 'htmlparser2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browser, formsOf, newBrowser, type Shown } from '#test/people/browser.ts';
import { crawl, furnish, kindOf } from './crawl.ts';
import { payloads } from './payloads.ts';
import { openPottery, type Pottery } from './pottery.ts';
import { signedIn } from './session.ts';

let pottery: Pottery;
let browser: Browser;
let usual: Read;
beforeAll(async () => {
  pottery = await openPottery({ browser: false });
  const business = await pottery.newBusiness();
  await furnish(pottery, business);
  browser = await signedIn(pottery, business.owner.accountId);
  usual = await readAll();
  await dropChecks();
}, 180_000);
afterAll(() => pottery?.close());

/** Columns that people, programs and other servers fill with words; `*`: texts inside the JSON, those of this name or answers. */
const columns: Record<string, string[]> = {
  access_request: ['agent_name'],
  account: ['name'],
  bookable: ['services*name'],
  booking: ['visitor_name', 'place'],
  build_log: ['text'],
  calendar: ['name'],
  comment_message: ['body', 'author_name'],
  comment_thread: ['page', 'position*quote'],
  deployment: ['error*message'],
  form: ['name', 'fields*label'],
  history_entry: ['via_name', 'subject_name'],
  refused_call: ['summary'],
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

/** The string of `["topic", "…"]`, or of `"name": "…"`. */
const inJson = (name: string) => String.raw`(${name ? `"${name}": ` : String.raw`\["\w+", `})"(?:[^"\\]|\\.)*"`;

/** Columns whose words are keys, or that are empty. */
const built = {
  'booking.intake': `update booking set intake = jsonb_build_array(jsonb_build_array('wish', ?::text))`,
  'view_hour.pages': `update view_hour set pages = jsonb_build_object('/' || ?::text, 5)`,
  'view_hour.referrers': `update view_hour set referrers = jsonb_build_object(?::text, 5)`,
};

/** Puts the word into all of them, each with the column's name before it. */
async function write(word: string): Promise<void> {
  const em = pottery.deps.em();
  for (const [table, names] of Object.entries(columns)) {
    for (const name of names) {
      const [column = '', inside] = name.split('*');
      // A page begins with a slash by the rules of the API; the rest may be anything.
      const text = `${column === 'page' ? '/' : ''}${table}.${column} ${word}`;
      if (inside === undefined) {
        await em.execute(`update "${table}" set "${column}" = ?`, [text]);
        continue;
      }
      const quoted = `\\1${JSON.stringify(text).replaceAll('\\', '\\\\')}`;
      const sql = `update "${table}" set "${column}" = regexp_replace("${column}"::text, ?, ?, 'g')::jsonb`;
      await em.execute(sql, [inJson(inside), quoted]);
    }
  }
  for (const [name, sql] of Object.entries(built)) await em.execute(sql, [`${name} ${word}`]);
}

type Read = { pages: Shown[]; text: string; markup: Set<string>; leads: Set<string> };

/** Pages of the account, at most two of each kind, and what is on them. */
async function readAll(): Promise<Read> {
  const all: Read = { pages: await crawl(browser, 2), text: '', markup: new Set(), leads: new Set() };
  for (const { text } of all.pages) read(text, all);
  return all;
}

const urls = new Set(['href', 'src', 'srcset', 'action', 'formaction', 'data', 'poster', 'xlink:href']);

/** Adds what the page shows, which elements with which attributes it has, and where these lead. */
function read(html: string, shown: Read): void {
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
}

test('the crawl reaches the pages of the account and of the site', () => {
  expect(new Set(usual.pages.map(({ url }) => kindOf(url))).size).toBeGreaterThan(45);
  expect(payloads).toHaveLength(60);
});

test('no page of the console can be framed, or runs a script that is not ours', () => {
  for (const { url, status, headers } of usual.pages) {
    const policy = headers.get('content-security-policy') ?? '';
    expect([url, status, headers.get('x-frame-options')]).toEqual([url, 200, 'DENY']);
    const parts = [`default-src 'none'`, `base-uri 'none'`, `frame-ancestors 'none'`];
    expect([url, ...parts.filter((part) => !policy.split('; ').includes(part))]).toEqual([url]);
    expect([url, /form-action '(?:self|none)'(?:;|$)/.test(policy)]).toEqual([url, true]);
    expect([url, /unsafe|\*|script-src[^;]*(?:http|data|blob)/.exec(policy)]).toEqual([url, null]);
  }
});

test('no form of the console acts for another site, or with another browser’s token', async () => {
  const forms = new Map(
    usual.pages.flatMap((page) =>
      formsOf(page).map(({ action, fields }) => [action || page.url, { action: action || page.url, fields }] as const),
    ),
  );
  expect(new Set([...forms.keys()].map(kindOf)).size).toBeGreaterThan(40);
  const [other] = formsOf(await newBrowser(pottery.url).open('/signin'));
  const own = { 'sec-fetch-site': 'same-origin', origin: new URL(pottery.url).origin };
  for (const { action, fields } of forms.values()) {
    const statuses = [
      await browser.go('POST', action, fields, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }),
      await browser.go('POST', action, fields, { 'sec-fetch-site': 'same-site' }),
      await browser.go('POST', action, { ...fields, form: other?.fields.form ?? '' }, own),
      await browser.go('POST', action, { ...fields, form: '' }, own),
    ].map(({ status, text }) => [status, text.includes('Please open the page again')]);
    expect([action, ...statuses]).toEqual([action, ...Array.from({ length: 4 }, () => [400, true])]);
  }
});

const groups = Array.from({ length: 6 }, (_, at) => payloads.slice(at * 10, at * 10 + 10));

test.each(groups.map((group, at) => [at, group] as const))(
  'no page of the console shows hostile words as markup (group %s)',
  { timeout: 60_000 },
  async (_at, group) => {
    await write(group.join(' '));
    const hostile = await readAll();
    const more = (now: Set<string>, before: Set<string>) => [...now].filter((one) => !before.has(one));
    expect(more(hostile.markup, usual.markup)).toEqual([]);
    expect(more(hostile.leads, usual.leads)).toEqual([]);
    expect(hostile.pages.length).toBe(usual.pages.length);
    const names = Object.entries(columns).flatMap(([table, own]) =>
      own.map((one) => `${table}.${one.replace(/\*.*/, '')}`),
    );
    const unseen = [...names, ...Object.keys(built)].filter((name) => !hostile.text.includes(`${name} `));
    expect(unseen).toEqual([]);
  },
);
