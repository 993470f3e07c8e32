/** The list of sketches, and the choice of a direction on a sketch's page. */
import { afterAll, expect, test } from 'vitest';
import { blockAccount } from '#db/accounts/blocks.ts';
import { type Caller, callWith } from '#test/api/fixture.ts';
import { signedIn } from '#test/console/session.ts';
import { hear } from '#test/inbox/fixture.ts';
import { createFixture } from '#test/output/fixture.ts';
import { quickest } from '#test/stack/quickest.ts';
import { launchChromium } from '#test/web/chromium.ts';

const fixture = await createFixture({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9' });
afterAll(() => fixture.close());

const direction = (name: string) => ({ name, html: `<!doctype html><h1>${name}</h1>` });
async function show(owner: Caller, ...names: string[]) {
  const answer = await owner.call('POST', '/v1/sketches', {
    body: { title: 'A bakery', directions: names.map(direction) },
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
const labelOf = (url: string) => new URL(url).hostname.split('.')[0] ?? '';
const overviewOf = async ({ url }: { url: string }) => (await fixture.visit(labelOf(url), '/')).text;

/** Presses the button of a page at this address, as a browser does: of another origin, without a cookie. */
async function choose(url: string, position: string): Promise<{ status: number; text: string; page: Headers }> {
  const answer = await fetch(`${fixture.url}/sketches/${labelOf(url)}/choice`, {
    method: 'POST',
    headers: { origin: 'null', 'sec-fetch-site': 'cross-site' },
    body: new URLSearchParams({ direction: position }),
  });
  return { status: answer.status, text: await answer.text(), page: answer.headers };
}
const listed = async (owner: Caller, query = '') => (await owner.call('GET', `/v1/sketches${query}`)).body;
const inboxOf = async (owner: Caller) => (await owner.call('GET', '/v1/inbox')).body.items;

test('sketches are listed newest first, in pages and by status', async () => {
  const [owner, stranger] = [await fixture.newCaller(), await fixture.newCaller()];
  const [first, second, third] = [
    await show(owner, 'One'),
    await show(owner, 'Two', 'Three'),
    await show(owner, 'Four'),
  ];
  expect(await listed(owner)).toEqual({ items: [third, second, first], next_cursor: null });
  expect(await listed(stranger)).toEqual({ items: [], next_cursor: null });
  const page = await listed(owner, '?limit=2');
  expect(page.items).toEqual([third, second]);
  expect((await listed(owner, `?limit=2&cursor=${page.next_cursor}`)).items).toEqual([first]);
  const removed = (await owner.call('DELETE', `/v1/sketches/${second.id}`)).body;
  expect((await listed(owner, '?status=shown')).items).toEqual([third, first]);
  expect((await listed(owner, '?status=removed')).items).toEqual([removed]);
  expect((await owner.call('GET', '/v1/account')).body.limits.sketches).toMatchObject({ used: 2 });
});

test('a token of one site sees no sketches and no choice', async () => {
  const owner = await fixture.newCaller();
  const sketch = await show(owner, 'One');
  await choose(sketch.url, '1');
  const site = (await owner.call('POST', '/v1/sites', { body: { name: 'narrow-one', title: 'A' } })).body;
  const scope = { sites: [site.id], access: 'write', payouts: false, account: false };
  const { body } = await owner.call('POST', '/v1/tokens', { body: { name: 'narrow', scope } });
  const call = callWith(fixture.url, body.access_token);
  expect((await call('GET', '/v1/sketches')).body).toEqual({ items: [], next_cursor: null });
  expect((await call('GET', '/v1/inbox')).body.items).toEqual([]);
  expect(await inboxOf(owner)).toHaveLength(1);
});

test('a choice is on the page, in the list, the inbox and the history', async () => {
  const owner = await fixture.newCaller();
  const sketch = await show(owner, 'Warm', 'Cool');
  const page = await overviewOf(sketch);
  expect(sketch.chosen).toBeNull();
  expect(page.match(/>Choose this one</g)).toHaveLength(2);
  expect(page).toContain(`action="${fixture.config.baseUrl}/sketches/${labelOf(sketch.url)}/choice"`);
  const { status, text, page: headers } = await choose(sketch.url, '2');
  expect(status).toBe(200);
  expect(text).toContain('You chose “Cool”');
  expect(text).toContain(`href="${sketch.url}"`);
  expect(headers.get('cache-control')).toBe('no-store');
  const after = await overviewOf(sketch);
  expect([after.match(/>Choose this one</g)?.length, after.match(/You chose this one/g)?.length]).toEqual([1, 1]);
  const [shown] = (await listed(owner)).items;
  const chosen = { name: 'Cool', url: sketch.directions[1].url, at: expect.stringMatching(/Z$/) };
  expect(shown).toEqual({ ...sketch, chosen });
  const home = await (await signedIn(fixture, owner.accountId)).open('/account');
  expect(home.text).toContain(`href="${sketch.url}">See the sketch<`);
  const items = await inboxOf(owner);
  expect(items).toMatchObject([
    {
      kind: 'sketch_chosen',
      id: sketch.id,
      site: null,
      slot: null,
      who: null,
      at: shown.chosen.at,
      title: 'The direction “Cool” of the sketch “A bakery” was chosen.',
      message: 'Cool',
      next_action: expect.stringContaining(`DELETE /v1/sketches/${sketch.id}`),
    },
  ]);
  const [entry] = (await owner.call('GET', '/v1/account/history')).body.items;
  expect(entry).toMatchObject({
    action: 'sketch.chosen',
    via: { kind: 'platform', name: null },
    subject: { kind: 'sketch', id: sketch.id },
    detail: { direction: 'Cool' },
  });
});

test('a choice that is done returns when it changes, and leaves with the sketch', async () => {
  const owner = await fixture.newCaller();
  const sketch = await show(owner, 'Warm', 'Cool');
  await choose(sketch.url, '1');
  const done = { items: [{ kind: 'sketch_chosen', id: sketch.id }] };
  expect((await owner.call('POST', '/v1/inbox/done', { body: done })).status).toBe(200);
  fixture.skip(1_000);
  // The same one again is no change.
  expect((await choose(sketch.url, '1')).status).toBe(200);
  expect(await inboxOf(owner)).toEqual([]);
  expect((await choose(sketch.url, '2')).status).toBe(200);
  expect(await inboxOf(owner)).toMatchObject([{ message: 'Cool' }]);
  await owner.call('DELETE', `/v1/sketches/${sketch.id}`);
  expect(await inboxOf(owner)).toEqual([]);
  expect((await choose(sketch.url, '1')).status).toBe(404);
});

test('only the address of the page chooses, and only what it shows', async () => {
  const owner = await fixture.newCaller();
  const sketch = await show(owner, 'Warm', 'Cool');
  for (const position of ['0', '3', '-1', '1.5', 'x', ''])
    expect((await choose(sketch.url, position)).status).toBe(404);
  expect((await choose(sketch.directions[0].url, '1')).status).toBe(404);
  expect((await choose(`https://s--${'0'.repeat(26)}.example/`, '1')).status).toBe(404);
  const refused = await choose(`https://${'s--'.repeat(9)}.example/`, '1');
  expect([refused.status, refused.page.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect((await listed(owner)).items[0].chosen).toBeNull();
  await blockAccount(fixture.deps.em(), fixture.deps, owner.accountId, 'Fraud');
  expect((await choose(sketch.url, '1')).status).toBe(404);
});

test('a choice changes at most twenty times in an hour', async () => {
  const owner = await fixture.newCaller();
  const sketch = await show(owner, 'Warm', 'Cool');
  const statuses: number[] = [];
  const perHour = Math.ceil(20 * fixture.config.rateScale);
  const history = (n: number) =>
    fixture.deps.em().execute(
      `insert into history_entry (id, at, owner_id, actor_id, via_kind, action, owners_only, subject_id, detail)
       select 'hist_' || n, ?, ?, ?, 'person', 'sketch.chosen', false, ?, '{}' from generate_series(1, ?) as n`,
      [fixture.clock.now(), owner.accountId, owner.accountId, sketch.id, n],
    );
  await history(perHour - 1);
  for (const position of ['1', '2']) statuses.push((await choose(sketch.url, position)).status);
  fixture.skip(3_600_000);
  statuses.push((await choose(sketch.url, '2')).status);
  expect(statuses).toEqual([200, 429, 200]);
});

test('a waiting inbox returns within a second of a choice', async () => {
  const ms = await quickest(1_000, async () => {
    const owner = await fixture.newCaller();
    const { url } = await show(owner, 'Warm');
    return await hear(fixture, owner, 'sketch_chosen', () => choose(url, '1'));
  });
  expect(ms).toBeLessThan(1_000);
});

test('a person chooses with one press', { tags: 'chromium' }, async () => {
  const owner = await fixture.newCaller();
  const sketch = await show(owner, 'Warm', 'Cool');
  const edge = await fixture.openEdge(fixture.url);
  const chrome = await launchChromium();
  try {
    const page = await chrome.newPage({ viewport: { width: 390, height: 844 } });
    await page.goto(`http://${new URL(sketch.url).hostname}:${edge.port}/`);
    await page.getByRole('button', { name: 'Choose this one' }).nth(1).click();
    await page.getByRole('heading', { name: 'You chose “Cool”' }).waitFor();
    expect((await listed(owner)).items[0].chosen.name).toBe('Cool');
  } finally {
    await chrome.close();
    await edge.close();
  }
});
