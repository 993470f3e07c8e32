/** The other forms of a business and its account: each does what its operation does, and says so. */
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { showDraft } from '#test/comments/drafts.ts';
import { heldIn } from '#test/payments/held.ts';
import { type Browser, formsOf } from '#test/people/browser.ts';
import { until } from '#test/stack/until.ts';
import { openPottery, type Pottery } from './pottery.ts';
import { signedIn } from './session.ts';

let pottery: Pottery;
beforeAll(async () => {
  pottery = await openPottery({ browser: false });
}, 60_000);
afterAll(() => pottery?.close());

/** Where the first link to such a path leads. */
const hrefOf = (text: string, end: string) => new RegExp(`href="([^"]+${end})"`).exec(text)?.[1] ?? `no link to ${end}`;

/** Presses a button of a page; returns what the next page says. */
async function act(browser: Browser, path: string, button: string, typed: Record<string, string> = {}) {
  const { status, text, url } = await browser.press(await browser.open(path), button, typed);
  const said = /<p class="(?:notice" role="status|fault" role="alert)">([^<]*)</.exec(text)?.[1] ?? '';
  return { status, text, url, said };
}

test('settings, links, people and calendars of a site change by their forms', async () => {
  const { owner, site, form, collaborator } = await pottery.newBusiness();
  const browser = await signedIn(pottery, owner.accountId);
  const base = `/account/sites/${site.id}`;
  const settings = `${base}/settings`;
  expect((await act(browser, settings, 'Save the title', { title: 'Clay & Co' })).said).toBe('The title is saved.');
  const name = `${site.name}-new`;
  expect((await act(browser, settings, 'Change the address', { name })).said).toContain(name);
  const taken = await act(browser, settings, 'Change the address', { name: 'No Name' });
  expect([taken.status, taken.text.includes('value="No Name"'), taken.text.includes('aria-invalid="true"')]).toEqual([
    400,
    true,
    true,
  ]);
  expect((await owner.call('GET', `/v1/sites/${site.id}`)).body).toMatchObject({ title: 'Clay & Co', name });
  const formOf = async () => (await owner.call('GET', `/v1/forms/${form.id}`)).body;
  const collaboratorsAddress = await pottery.emailOf(collaborator);
  await act(browser, settings, 'Save', { notify_to: collaboratorsAddress });
  const toNotify = formsOf(await browser.open(settings)).find(({ action }) => action.endsWith('/bookings/notify'));
  const sent = { ...toNotify?.fields, notify_to: collaboratorsAddress };
  const notified = await browser.go('POST', toNotify?.action ?? '', sent, { 'sec-fetch-site': 'same-origin' });
  expect(notified.text).toContain(`E-mails about bookings go to ${collaboratorsAddress}.`);
  expect((await owner.call('GET', `/v1/sites/${site.id}/bookable`)).body.notify_to).toBe(collaboratorsAddress);
  await act(browser, settings, 'Switch off');
  expect(await formOf()).toMatchObject({ status: 'disabled', notify_to: collaboratorsAddress });
  await act(browser, settings, 'Switch on');
  expect((await formOf()).status).toBe('enabled');
  for (const [path, button, link, list] of [
    [settings, 'Create an upload link', /http:\/\/desk\.localhost(\/[\w/]*fru_[\w-]+)/, 'uploads'],
    [settings, 'Create a review link', /http:\/\/desk\.localhost(\/review\/[\w-]+)/, 'review-links'],
    [
      `${base}/bookings`,
      'Create a calendar address',
      /http:\/\/desk\.localhost(\/calendar\/[\w-]+\.ics)/,
      'calendar-feeds',
    ],
  ] as const) {
    const made = await act(browser, path, button, { max_files: '3' });
    const address = link.exec(made.text)?.[1] ?? `no address: ${made.text.slice(-2000)}`;
    expect([button, address, (await browser.open(address)).status < 400]).toEqual([button, address, true]);
    const asked = await browser.open(hrefOf((await browser.open(path)).text, '/end'));
    await browser.press(asked, list === 'calendar-feeds' ? 'Revoke it' : 'Close the link');
    const { items } = (await owner.call('GET', `/v1/sites/${site.id}/${list}`)).body;
    expect(items.map(({ status }: { status: string }) => status)).toEqual(['ended']);
  }
  await showDraft(pottery, { siteId: site.id, accountId: owner.accountId, slot: 2 }, '<h1>A draft</h1>');
  const made = await act(browser, settings, 'Create a review link', { slot: '2' });
  expect(made.text).toMatch(/http:\/\/desk\.localhost\/review\/frr_[\w-]+/);
  expect((await browser.open(settings)).text).toContain('<strong>For preview 2</strong>');
  const people = `${base}/people`;
  expect((await act(browser, people, 'Invite', { email: 'new@example.com' })).said).toContain(
    'new@example.com has been invited.',
  );
  expect((await act(browser, people, 'Withdraw')).said).toBe('The invitation for new@example.com is withdrawn.');
  await act(browser, `${people}/${collaborator.accountId}/remove`, 'Remove');
  expect((await owner.call('GET', `/v1/sites/${site.id}/collaborators`)).body.items).toHaveLength(1);
});

test('agents, payout accounts and sessions of an account change by their forms', async () => {
  const { owner, site } = await pottery.newBusiness();
  const browser = await signedIn(pottery, owner.accountId);
  const other = await signedIn(pottery, owner.accountId);
  const [token] = (await owner.call('GET', '/v1/tokens')).body.items;
  await act(browser, `/account/agents/${token.id}`, 'Save the name', { name: 'Claude at work' });
  expect((await owner.call('GET', '/v1/tokens')).body.items[0].name).toBe('Claude at work');
  const scope = { sites: [site.id], access: 'write', payouts: false, account: false };
  const { body: made } = await owner.call('POST', '/v1/tokens', { body: { name: 'operator', scope } });
  const history = await browser.open('/account/history');
  expect(history.text).toContain(`<a href="/account/agents/${token.id}">Claude at work</a>, an agent of Maria Hartley`);
  const listed = (await browser.open(`/account/agents/${token.id}`)).text;
  expect(listed).toMatch(/<dt>Given by<\/dt><dd>You, on /);
  expect(listed).toContain('<strong>Gave “operator” access to the account.</strong>');
  expect((await browser.open('/account/agents')).text).toContain(`href="/account/sites/${site.id}/settings#uploads"`);
  const settings = (await browser.open('/account/settings')).text;
  expect(settings).toContain(`href="/account/sites/${site.id}/settings/export" download`);
  expect((await browser.open('/account/delete')).text).toContain('href="/account/settings#download"');
  const limited = await browser.open(`/account/agents/${made.id}`);
  expect(limited.text).toContain(`<dt>Websites</dt><dd><a href="/account/sites/${site.id}">The pottery</a> (`);
  await act(browser, '/account/settings', 'Save the name', { name: 'Maria H.' });
  expect((await owner.call('GET', '/v1/account')).body.name).toBe('Maria H.');
  await act(browser, '/account/settings', 'Sign out everywhere else');
  expect([(await other.open('/account')).url, (await browser.open('/account')).url]).toEqual(['/signin', '/account']);

  const key = { name: 'Second till', secret_key: 'rk_test_0123456789abcdef' };
  const added = await act(browser, '/account/payouts/new', 'Add the account', key);
  expect(added.said).toBe('The payout account is added.');
  expect((await browser.open('/account/payouts/new')).text).toContain('a restricted key in your Stripe dashboard');
  await act(browser, added.url, 'Save the name', { name: 'Third till' });
  await act(browser, added.url, 'Replace the key', { secret_key: 'nonsense' });
  const replaced = await act(browser, added.url, 'Replace the key', { secret_key: `${key.secret_key}_next` });
  expect(replaced.said).toBe('The key is replaced.');
  const accounts = async () => (await owner.call('GET', '/v1/account/payout-accounts')).body.items;
  expect((await accounts()).map(({ name }: { name: string }) => name)).toEqual(['Third till', 'Till']);
  const connect = await act(browser, '/account/payouts/new', 'Continue', { name: 'By link' });
  const onboarding = await act(browser, connect.url, 'Connect it');
  expect(onboarding.text).toMatch(/href="http:\/\/desk\.localhost\/connect\/[\w-]+"/);

  const till = (await accounts()).find(({ name }: { name: string }) => name === 'Till');
  await act(browser, `/account/payouts/${till.id}/sites/${site.id}/end`, 'Stop using it');
  const chosen = await act(browser, `/account/sites/${site.id}/payments`, 'Use Third till');
  expect(chosen.said).toBe('Payments on this site now go to that payout account.');
  expect((await act(browser, `/account/payouts/${till.id}/remove`, 'Remove it')).said).toBe('Till is removed.');
  expect((await owner.call('GET', `/v1/sites/${site.id}/payout-account`)).body.payout_account.name).toBe('Third till');
});

test('a payment shows its refund in progress, and what came of it', async () => {
  const { owner, site, payment } = await pottery.newBusiness();
  const browser = await signedIn(pottery, owner.accountId);
  const path = `/account/sites/${site.id}/payments/${payment.id}`;
  const become = async (refunding: number, refunded: number, failedAt: Date | null = null) => {
    const sql = 'update payment set refunding_amount = ?, refunded_amount = ?, refund_failed_at = ? where id = ?';
    await pottery.deps.em().execute(sql, [refunding, refunded, failedAt, payment.id]);
    return await browser.open(path);
  };
  const progress = async () => JSON.parse((await browser.open(`${path}/progress`)).text);
  const status = 'Paid, refund of €5.00 in progress, €7.50 remain';
  const begun = await become(500, 0);
  for (const words of [status, `data-progress="${path}/progress"`, '/account/scripts/progress.js', '>Refund</a>'])
    expect(begun.text).toContain(words);
  expect(await progress()).toEqual({ status, isOver: false, log: '' });
  expect((await browser.open(`${path}/refund`)).text).toContain('At most €7.50.');
  expect((await become(1250, 0)).text).not.toContain('>Refund</a>');
  expect((await browser.open(`${path}/refund`)).text).not.toContain('>Refund</button>');
  const failed = await become(0, 0, pottery.clock.now());
  for (const words of ['The last refund failed.', '>Refund</a>']) expect(failed.text).toContain(words);
  expect((await become(0, 500)).text).not.toContain('data-progress');
  expect(await progress()).toEqual({ status: 'Paid, €5.00 refunded, €7.50 remain', isOver: true, log: '' });
  const refunded = await browser.open(`/account/sites/${site.id}/payments?status=refunded`);
  expect([refunded.text.includes('Two bowls, glazed'), refunded.text.includes('A dinner service')]).toEqual([
    true,
    false,
  ]);
});

/** The files whose forms call operations, as one text. */
async function formSources(): Promise<string> {
  const names = (await readdir('api', { recursive: true })).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(names.map((name) => readFile(`api/${name}`, 'utf8')));
  return texts.filter((text) => /\b(?:askedA|a)ction\(console, \{/.test(text)).join('\n');
}

test('the document of the console names each form’s operation, and its test', async () => {
  const tables = (await readFile('docs/console.md', 'utf8')).split('\n').filter((line) => /^\| .*`/.test(line));
  const rows = tables.map((line) =>
    line
      .split('|')
      .slice(1, 5)
      .map((cell) => cell.trim()),
  );
  const named = rows.flatMap(([, , operations = '']) => [...operations.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  const sources = await formSources();
  const called = [...sources.matchAll(/\boperation: '([a-z_.]+)'/g)].map(([, name]) => name);
  expect(called.length).toBeGreaterThan(40);
  expect(called.filter((name) => !named.includes(name))).toEqual([]);
  // Some forms differ by one word of the operation.
  const isCalled = (name = '') => sources.includes(`'${name}'`) || sources.includes(`\`${name.split('.')[0]}.\${`);
  expect(named.filter((name) => !isCalled(name))).toEqual([]);
  const pages = rows.map((row, at) => [rows.slice(0, at + 1).findLast(([page]) => page)?.[0] ?? '', row[3] ?? '']);
  expect(pages.length).toBeGreaterThan(30);
  for (const [page = '', tests = ''] of pages) {
    for (const name of tests.split(', ')) {
      const path = name.includes('/') ? `test/${name}.test.ts` : `test/console/${name}.test.ts`;
      const text = await readFile(path, 'utf8');
      const word =
        page
          .replace(/`/g, '')
          .split('/')
          .findLast((part) => /^[a-z]+$/.test(part)) ?? '';
      expect([page, name, text.includes(word)]).toEqual([page, name, true]);
    }
  }
});

test('a paid booking is one item on Home, also after its site is archived', async () => {
  const { owner, site, id, payUrl, paymentId, statusOf } = await heldIn(pottery);
  const browser = await signedIn(pottery, owner.accountId);
  const archive = `/account/sites/${site.id}/settings/archive`;
  expect((await browser.open(archive)).text).toContain('1 booking that is not paid yet ends.');
  await pottery.press((await pottery.openLink(payUrl)).page, 'pay', { email: 'ada-pays@example.org' });
  await until(statusOf, (status) => status === 'confirmed');
  const waiting = formsOf(await browser.open('/account')).flatMap(({ action, fields }) =>
    action === '/account/inbox/done' ? [[fields.kind, fields.id, fields.payment]] : [],
  );
  expect(waiting).toEqual([['new_booking', id, paymentId]]);
  const asked = await browser.open(archive);
  expect(asked.text).toContain('1 future booking (1 of them paid) stays valid, and the visitors are not notified');
  await browser.press(asked, 'Archive the site');
  const inbox = async () => (await owner.call('GET', '/v1/inbox')).body.items;
  expect((await inbox()).find(({ kind }: { kind: string }) => kind === 'payment_paid').title).toMatch(
    /The site is archived\.$/,
  );
  const home = await browser.open('/account');
  expect(home.text).toContain('The site is archived. €25.00 was paid.');
  await browser.press(home, 'Done');
  expect(await inbox()).toEqual([]);
  await owner.call('POST', `/v1/bookings/${id}/cancel`);
  const { text } = await browser.open(`/account/sites/${site.id}/history`);
  for (const words of ['Archived this site.', '<small>Ada Visitor · ']) expect(text).toContain(words);
});
