import protos from '@temporalio/proto';
import { afterAll, expect, test } from 'vitest';
import { openAccount } from '#api/accounts/rules.ts';
import { OutboxEntry } from '#db/outbox-entry.ts';
import { callWith, errorOf } from '#test/api/fixture.ts';
import { createMailFixture } from '#test/mail/fixture.ts';
import { until } from '#test/stack/until.ts';
import { newBrowser } from './browser.ts';

const fixture = await createMailFixture();
afterAll(() => fixture.close());
const anyone = callWith(fixture.url);
const email = 'owner@example.com';
const { id: accountId } = await openAccount(fixture.deps.em(), fixture.clock, { email, name: 'Owner' });

/** Everything that was secret, and all that was answered with an error. */
const secrets = new Set<string>();
const refusals: string[] = [];
const keep = (...texts: string[]) => {
  for (const text of texts) secrets.add(text);
};

const lastPart = (path: string) => path.split('/').at(-1) ?? '';

/** The path of the link that a mail to the address brought and nobody opened yet, as the mail server got it, and its code if it has one. */
async function newLetter(address: string, kind: 'access' | 'signin' | 'address') {
  const unread = () =>
    fixture
      .mailsTo(address)
      .map(({ text }) => ({
        path: new URL(/https?:\/\/\S+/.exec(text)?.[0] ?? fixture.url).pathname,
        code: /^Code: ([A-Z]{8})$/m.exec(text)?.[1] ?? '',
      }))
      .find(({ path }) => path.startsWith(`/${kind}/`) && !secrets.has(lastPart(path)));
  const { path, code } = (await until(unread, (letter) => letter !== undefined)) as Letter;
  keep(lastPart(path), ...(code ? [code] : []));
  return { path, code };
}
type Letter = { path: string; code: string };

async function ask() {
  const { body } = await anyone('POST', '/v1/auth/requests', { body: { email, agent_name: 'Claude' } });
  keep(body.secret, body.user_code);
  return body;
}

async function redeem({ id, secret }: { id: string; secret: string }) {
  const answer = await anyone('POST', `/v1/auth/requests/${id}/redeem`, { body: { secret } });
  if (answer.status >= 400) refusals.push(answer.text);
  return answer;
}

async function grantAccess() {
  const browser = newBrowser(fixture.url);
  const request = await ask();
  const page = await browser.open((await newLetter(email, 'access')).path);
  const wrong = await browser.press(page, 'Give access', { code: 'BBBBBBBB' });
  refusals.push(wrong.text);
  await browser.press(wrong, 'Give access', { code: request.user_code, account: 'yes' });
  keep(...browser.cookies.values());
  return request;
}

async function signIn() {
  const browser = newBrowser(fixture.url);
  await browser.press(await browser.open('/signin'), 'Send me a link', { email });
  const { path: link } = await newLetter(email, 'signin');
  const page = await browser.open(link);
  keep(/name="form" value="([^"]+)"/.exec(page.text)?.[1] ?? '');
  return { browser, page, link };
}

/** Whatever the engine keeps of the workflows that were started, as bytes. */
async function histories(): Promise<Buffer[]> {
  const unsent = () => fixture.deps.em().count(OutboxEntry, { sentAt: null });
  await expect.poll(unsent).toBe(0);
  const entries = await fixture.deps.em().find(OutboxEntry, { kind: 'start' });
  const ids = [...new Set(entries.map(({ workflowId }) => workflowId))];
  return await Promise.all(
    ids.map(async (id) => {
      const history = await fixture.deps.temporal.workflow.getHandle(id).fetchHistory();
      return Buffer.from(protos.temporal.api.history.v1.History.encode(history).finish());
    }),
  );
}

/** Every row of every table, as text. */
async function rows(): Promise<string> {
  const em = fixture.deps.em();
  const tables = await em.execute<{ name: string }[]>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  );
  const texts = await Promise.all(tables.map(({ name }) => em.execute(`select t::text from ${name} t`)));
  return JSON.stringify(texts);
}

test('tokens, links, codes and cookies are in no log, history, error or row', async () => {
  const request = await grantAccess();
  const { body } = await redeem(request);
  keep(body.access_token);
  await redeem(request);
  await redeem({ ...request, secret: `${request.secret}x` });
  const { browser, page } = await signIn();
  await browser.press(page, 'Sign in');
  keep(...browser.cookies.values());
  const me = callWith(fixture.url, body.access_token);
  await me('PATCH', '/v1/account', { body: { email: 'new@example.com' } });
  const old = await newLetter(email, 'address');
  await browser.press(await browser.open(old.path), 'Confirm the change', { code: old.code });
  const { path: link, code } = await newLetter('new@example.com', 'address');
  await browser.press(await browser.open(link), 'Use this address', { code });
  refusals.push(
    (await browser.open(link)).text,
    (await anyone('POST', `/v1/auth/requests?x=${body.access_token}`)).text,
  );
  const mails = fixture.mailsTo(email);
  expect(mails.length).toBeGreaterThan(0);
  for (const { html, subject } of mails) expect(`${html}${subject}`).not.toContain(request.user_code);
  // 3 requests for mail to the owner, 1 to the new address, a notice, and the request's own.
  const kept = await histories();
  expect(kept.length).toBeGreaterThanOrEqual(6);
  expect(secrets.size).toBeGreaterThanOrEqual(11);
  const places = { log: JSON.stringify(fixture.logged), rows: await rows(), refusals: refusals.join('\n') };
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThanOrEqual(8);
    for (const [place, text] of Object.entries(places)) expect([place, text.includes(secret)]).toEqual([place, false]);
    expect(kept.some((bytes) => bytes.includes(secret))).toBe(false);
  }
  // The places are not empty, and the search would find what stands in them.
  expect([places.log.includes('access.redeem'), places.rows.includes(accountId)]).toEqual([true, true]);
  expect(kept.some((bytes) => bytes.includes(request.id))).toBe(true);
});

test('a request’s workflow ends with it, and returns its outcome', async () => {
  await fixture.deps.em().execute('update account set email = ? where id = ?', [email, accountId]);
  const request = await grantAccess();
  const { body } = await redeem(request);
  expect(body.status).toBe('approved');
  keep(body.access_token);
  const handle = fixture.deps.temporal.workflow.getHandle(`access:${request.id}`);
  expect(await handle.result()).toEqual({ status: 'redeemed' });
});

test('an unexpected failure reveals no secret', async () => {
  const em = fixture.deps.em();
  const request = await grantAccess();
  const { browser, page } = await signIn();
  await em.execute('alter table token rename column last_four to gone');
  await em.execute('alter table browser_session rename column hash to gone');
  const answers = [await redeem(request), await browser.press(page, 'Sign in')];
  await em.execute('alter table token rename column gone to last_four');
  await em.execute('alter table browser_session rename column gone to hash');
  expect(answers.map(({ status }) => status)).toEqual([500, 500]);
  const log = JSON.stringify(fixture.logged);
  expect(fixture.takeUnexpected()).toHaveLength(2);
  for (const secret of secrets) {
    expect([log.includes(secret), answers.some(({ text }) => text.includes(secret))]).toEqual([false, false]);
  }
  expect(errorOf(await redeem({ ...request, secret: 'x' })).code).toBe('not_found');
  expect((await redeem(request)).body.status).toBe('approved');
});
