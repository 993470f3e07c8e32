/** How much one read of the inbox loads, whatever is done. */
import { afterAll, expect, test, vi } from 'vitest';
import { itemsMax } from '#api/inbox/item.ts';
import { readInbox } from '#api/inbox/rules.ts';
import { everything } from '#rules/scopes.ts';
import { newId } from '#runtime/ids.ts';
import { createInboxFixture, momentOfRow } from './fixture.ts';

const fixture = await createInboxFixture();
afterAll(() => fixture.close());
const { ask } = fixture;
const count = 450;

type Owner = Awaited<ReturnType<typeof fixture.newCaller>>;

/** Marks all but the oldest as done, as the API stores that. */
const finishNewer = (owner: Owner, kind: string, table: string, column: string) =>
  fixture.deps.em().execute(
    `insert into inbox_done (account_id, kind, subject_id, item_at, done_at)
     select ?, ?, id, date_trunc('milliseconds', ${column}), ? from ${table} where id <> (select min(id) from ${table})`,
    [owner.accountId, kind, fixture.clock.now()],
  );

/** The ids of what is read, and how many entities and rows are loaded for it. */
async function read(owner: Owner) {
  const em = fixture.deps.em();
  const execute = vi.spyOn(em, 'execute');
  const { items } = await readInbox(em, fixture.deps, { accountId: owner.accountId, scope: everything });
  const answers: unknown[] = await Promise.all(execute.mock.results.map(({ value }) => value));
  return { ids: items.map(({ id }) => id), text: JSON.stringify(answers), rows: answers.flat().length };
}

test('the inbox loads neither submissions that are done nor their values', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const [oldest] = await fixture.formWith(site.id, count);
  await finishNewer(owner, 'new_submission', 'submission', 'created_at');
  const { ids, text } = await read(owner);
  expect(ids).toEqual([oldest]);
  expect(text).toContain(oldest);
  expect(text).not.toContain('"values"');
});

test('an open payment below many that are done is found', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const em = fixture.deps.em();
  const now = fixture.clock.now();
  const payout = newId('pout');
  await em.execute(
    `insert into payout_account (id, account_id, rail, name, status, created_at) values (?, ?, 'connect', 'Shop', 'pending', ?)`,
    [payout, owner.accountId, now],
  );
  await em.execute(
    `insert into payment (id, site_id, payout_account_id, amount, currency, status, expires_at, paid_at, refund_failed_at, created_at)
     select 'pay_' || lpad(n::text, 26, '0'), ?, ?, 100, 'EUR', 'paid', ?, ${momentOfRow}, ${momentOfRow}, ?
     from generate_series(1, ${count}) as n`,
    [site.id, payout, now, now, now, now],
  );
  await finishNewer(owner, 'payment_paid', 'payment', 'paid_at');
  await finishNewer(owner, 'refund_failed', 'payment', 'refund_failed_at');
  const { ids, rows } = await read(owner);
  const oldest = `pay_${'1'.padStart(26, '0')}`;
  expect(ids).toEqual([oldest, oldest]);
  // The site's name, and the payment once for each kind.
  expect(rows).toBe(3);
});

test('open photos below many that are done are found, up to the limit', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const em = fixture.deps.em();
  const now = fixture.clock.now();
  await em.execute(
    `insert into upload_link (id, site_id, account_id, hash, max_files, max_file_bytes, files_taken, created_at, expires_at, last_file_at, last_file_path)
     select 'upl_' || lpad(n::text, 26, '0'), ?, ?, sha256(n::text::bytea), 5, 100, 1, ?, ?, ${momentOfRow}, 'src/assets/a.png'
     from generate_series(1, ${count}) as n`,
    [site.id, owner.accountId, now, now, now],
  );
  expect((await read(owner)).ids).toHaveLength(itemsMax);
  await finishNewer(owner, 'photos_arrived', 'upload_link', 'last_file_at');
  expect((await read(owner)).ids).toEqual([`upl_${'1'.padStart(26, '0')}`]);
});
