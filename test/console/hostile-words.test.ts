/**
 * Attacks on the pages of the console: every text that visitors, tenants and collaborators write is text on each page
 * that shows it, no page can be framed, and no form acts for another site.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browser, formsOf, newBrowser } from '#test/people/browser.ts';
import { crawl, furnish, kindOf } from './crawl.ts';
import { added, markupOf } from './markup.ts';
import { payloads } from './payloads.ts';
import { openPottery, type Pottery } from './pottery.ts';
import { signedIn } from './session.ts';

let pottery: Pottery;
let browser: Browser;
let usual: Awaited<ReturnType<typeof readAll>>;
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

/** Pages of the account, at most two of each kind, and what is on them. */
async function readAll() {
  const pages = await crawl(browser, 2);
  return { pages, ...markupOf(pages) };
}

test('the crawl reaches the pages of the account and of the site', () => {
  expect(new Set(usual.pages.map(({ url }) => kindOf(url))).size).toBeGreaterThan(40);
  expect(payloads).toHaveLength(60);
});

test('no page can be framed, or runs a script that is not ours', () => {
  for (const { url, status, headers } of usual.pages) {
    const policy = headers.get('content-security-policy') ?? '';
    expect([url, status, headers.get('x-frame-options')]).toEqual([url, 200, 'DENY']);
    const parts = [`default-src 'none'`, `base-uri 'none'`, `frame-ancestors 'none'`];
    expect([url, ...parts.filter((part) => !policy.split('; ').includes(part))]).toEqual([url]);
    expect([url, /form-action '(?:self|none)'(?:;|$)/.test(policy)]).toEqual([url, true]);
    expect([url, /unsafe|\*|script-src[^;]*(?:http|data|blob)/.exec(policy)]).toEqual([url, null]);
  }
});

const groups = Array.from({ length: 6 }, (_, at) => payloads.slice(at * 10, at * 10 + 10));

/** Forms with fields to type into or to choose from, and the names of these. */
function typedForms() {
  const forms = usual.pages.flatMap((page) =>
    formsOf(page).map(({ action, fields, inside }) => {
      const inputs = inside.match(/<(?:input|textarea|select)\b[^>]*>/g) ?? [];
      const typed = inputs.filter((tag) => !/type="(?:hidden|radio|checkbox|file)"/.test(tag));
      return { action: action || page.url, fields, names: typed.map((tag) => /name="([^"]+)"/.exec(tag)?.[1] ?? '') };
    }),
  );
  const some = forms.filter(({ fields, names }) => fields.form && names.length > 0 && !names.includes('code'));
  return [...new Map(some.map((form) => [kindOf(form.action), form])).values()];
}

test('no form shows what was typed as markup', { timeout: 60_000 }, async () => {
  const forms = typedForms();
  expect(forms.length).toBeGreaterThan(12);
  const answersTo = async (word: string) => {
    const pages = [];
    for (const { action, fields, names } of forms) {
      const typed = Object.fromEntries(names.map((name) => [name, word]));
      const sent = { ...fields, key: crypto.randomUUID(), ...typed };
      pages.push(await browser.go('POST', action, sent, { 'sec-fetch-site': 'same-origin' }));
    }
    return pages;
  };
  const plain = markupOf([...usual.pages, ...(await answersTo('words '.repeat(80)))]);
  for (const group of groups) {
    const pages = await answersTo(group.join(' '));
    expect(added(markupOf(pages), plain)).toEqual([]);
    expect(pages.filter(({ text }) => text.includes('pwned(1)')).length).toBeGreaterThan(8);
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

test.each(groups.map((group, at) => [at, group] as const))(
  'no page of the console shows hostile words as markup (group %s)',
  { timeout: 60_000 },
  async (_at, group) => {
    await write(group.join(' '));
    const hostile = await readAll();
    expect(added(hostile, usual)).toEqual([]);
    expect(hostile.pages.length).toBeGreaterThan(40);
    const names = Object.entries(columns).flatMap(([table, own]) =>
      own.map((one) => `${table}.${one.replace(/\*.*/, '')}`),
    );
    const unseen = [...names, ...Object.keys(built)].filter((name) => !hostile.text.includes(`${name} `));
    expect(unseen).toEqual([]);
  },
);
