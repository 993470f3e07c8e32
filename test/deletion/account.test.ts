/** An owner deletes the account in a browser, restores it within 30 days, or lets it be purged. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { freeAddresses, restartAccountDeletions, settleAccountDeletion } from '#db/accounts/deletion.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { settleDeletion } from '#db/sites/deletion.ts';
import { createSite, errorOf } from '#test/api/fixture.ts';
import { activityFaults, faultsOf } from '#test/publishing/activity-faults.ts';
import { type AccountDeletionFixture, createAccountDeletionFixture } from './account-fixture.ts';

vi.setConfig({ testTimeout: 90_000 });
const dayMs = 24 * 3600_000;
const steps = ['endAccountMoney', 'settleAccountDeletion', 'forgetAccount', 'finishAccountPurge'];

let fixture: AccountDeletionFixture;
beforeAll(async () => {
  fixture = await createAccountDeletionFixture();
}, 120_000);
afterEach(() => fixture.around.clear());
afterAll(() => fixture?.close());

const em = () => fixture.em();
/** As by an accepted invitation. */
const join = (siteId: string, accountId: string) => {
  const member = [siteId, accountId, fixture.clock.now()];
  return em().execute('insert into collaborator (site_id, account_id, since) values (?, ?, ?)', member);
};

test('a typed code takes the account offline, and its owner restores it', async () => {
  const owner = await fixture.newSignedIn();
  const host = await fixture.newSignedIn();
  const site = await createSite(owner);
  const foreign = await createSite(host);
  await join(foreign.id, owner.accountId);
  const sketch = await owner.call('POST', '/v1/sketches', {
    body: {
      title: 'Ideas',
      directions: [
        { name: 'One', html: '<p>One' },
        { name: 'Two', html: '<p>Two' },
      ],
    },
  });
  expect(sketch.status).toBe(200);
  await fixture.addPayoutAccount(owner, site.id);
  const before = await owner.browser.open('/account/delete');
  expect(before.text).toMatch(
    /1 website goes offline[\s\S]*1 sketch is removed for good[\s\S]*1 agreement about payouts ends[\s\S]*1 website of somebody else/,
  );
  expect((await owner.browser.open('/account/settings')).text).toContain('href="/account/delete"');

  const done = await fixture.deleteIt(owner);
  expect([done.status, done.text]).toEqual([200, expect.stringContaining('Your account is being deleted')]);
  expect((await owner.call('GET', '/v1/account')).status).toBe(401);
  expect((await owner.browser.open('/account')).text).toContain('Send me a link');
  const members = (await host.call('GET', `/v1/sites/${foreign.id}/collaborators`)).body.items;
  expect(members.map(({ account_id }: { account_id: string }) => account_id)).toEqual([host.accountId]);
  expect(
    await em().execute('select 1 from payout_agreement where site_id = ? and ended_at is null', [site.id]),
  ).toEqual([]);
  expect(await em().execute(`select status from sketch where account_id = ?`, [owner.accountId])).toEqual([
    { status: 'removed' },
  ]);
  await expect.poll(async () => (await fixture.siteWorkflowOf(site.id).describe()).status.name).toBe('RUNNING');
  const letter = (await fixture.lettersTo(owner.email))[0];
  expect(letter).toMatchObject({
    kind: 'account-deletion',
    link: '/account/restore',
    subject: expect.stringMatching(/^Your account will be deleted on /),
  });

  const { browser, page } = await fixture.signInAgain(owner);
  expect(page.text).toContain('Keep your account?');
  for (const path of ['/account', '/account/delete', `/account/sites/${site.id}/restore`])
    expect((await browser.open(path)).text).toContain('Keep your account?');
  const back = await browser.press(page, 'Restore my account');
  expect(back.text).toContain('Your sites');
  expect(back.text).toContain('Archived');
  expect(await fixture.workflowOf(owner.accountId).result()).toEqual({ status: 'restored' });
  expect(await fixture.siteWorkflowOf(site.id).result()).toEqual({ status: 'restored' });
  expect((await owner.call('GET', '/v1/account')).status).toBe(401);
  expect((await browser.open('/account/restore')).text).toContain('not being deleted');
  const acts = await em().execute<{ action: string }[]>(
    `select action from history_entry where owner_id = ? and action ~ '^(account|site)' order by id desc limit 5`,
    [owner.accountId],
  );
  const restored = ['account.restored', 'site.restored'];
  expect(acts.map(({ action }) => action)).toEqual([...restored, 'account.deleted', 'site.deleted', 'site.archived']);
});

test('an account is deleted although a site it works on is being deleted', async () => {
  const [owner, host] = [await fixture.newSignedIn(), await fixture.newSignedIn()];
  const site = await createSite(host);
  await join(site.id, owner.accountId);
  await host.call('POST', `/v1/sites/${site.id}/archive`);
  expect((await host.call('DELETE', `/v1/sites/${site.id}?confirm=true`)).status).toBe(200);
  expect((await fixture.deleteIt(owner)).text).toContain('Your account is being deleted');
  await host.call('POST', `/v1/sites/${site.id}/restore-site`);
  expect((await host.call('GET', `/v1/sites/${site.id}/collaborators`)).body.items).toHaveLength(1);
});

test('a site that its owner deleted before stays deleted when the account is restored', async () => {
  const owner = await fixture.newSignedIn();
  const [kept, gone] = [await createSite(owner), await createSite(owner)];
  await owner.call('POST', `/v1/sites/${gone.id}/archive`);
  expect((await owner.call('DELETE', `/v1/sites/${gone.id}?confirm=true`)).body.status).toBe('deleting');
  fixture.skip(3600_000);
  expect((await owner.browser.open('/account/delete')).text).toContain('1 website goes offline');
  await fixture.deleteIt(owner);
  // The dates of both deletions do not decide.
  await em().execute('update site set delete_at = ? where id = ?', [
    (await fixture.accountOf(owner.accountId)).deleteAt,
    gone.id,
  ]);
  const { browser, page } = await fixture.signInAgain(owner);
  await browser.press(page, 'Restore my account');
  const rows = await em().execute<{ id: string }[]>(
    'select id from site where account_id = ? and delete_at is not null',
    [owner.accountId],
  );
  expect(rows).toEqual([{ id: gone.id }]);
  const acts = await em().execute<{ action: string; site_id: string }[]>(
    `select action, site_id from history_entry where owner_id = ? and action in ('site.deleted', 'site.restored') order by id`,
    [owner.accountId],
  );
  expect(acts.map(({ action, site_id }) => [action, site_id])).toEqual([
    ['site.deleted', gone.id],
    ['site.deleted', kept.id],
    ['site.restored', kept.id],
  ]);
  expect(kept.id).not.toBe(gone.id);
});

test('a restored account does not end the purge of a site', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner);
  const held = Promise.withResolvers<void>();
  fixture.around.set('finishSitePurge', (finish) => held.promise.then(finish));
  await fixture.deleteIt(owner);
  // As by a worker whose clock is ahead.
  await em().execute('update site set purged_at = ? where id = ?', [fixture.clock.now(), site.id]);
  const { browser, page } = await fixture.signInAgain(owner);
  await browser.press(page, 'Restore my account');
  expect((await fixture.accountOf(owner.accountId)).deleteAt).toBeNull();
  expect(await em().execute('select 1 from site where id = ? and delete_at is null', [site.id])).toEqual([]);
  held.resolve();
});

test.each(faultsOf(2))('a purge leaves receipts only where each step %s', async (fault) => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner);
  const payout = await fixture.addPayoutAccount(owner, site.id);
  for (const step of steps.slice(0, 2)) fixture.around.set(step, activityFaults[fault]);
  await fixture.deleteIt(owner);
  // As by a call that accepts an invitation meanwhile.
  await join((await createSite(await fixture.newCaller())).id, owner.accountId);
  await expect.poll(() => fixture.around.size).toBe(0);
  for (const step of steps.slice(1)) fixture.around.set(step, activityFaults[fault]);
  await fixture.purge(owner, [site.id]);
  expect(fixture.around.size).toBe(0);
  expect(await fixture.accountOf(owner.accountId)).toMatchObject({
    name: 'Deleted account',
    deleteAt: null,
    purgedAt: expect.any(Date),
  });
  expect(await em().findOneOrFail(PayoutAccount, { id: payout })).toMatchObject({
    status: 'gone',
    sealedKey: null,
    name: '',
  });
  const tables = await em().execute<{ name: string }[]>(
    `select c.conrelid::regclass::text as name from pg_constraint c
         join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1] and a.attname = 'account_id'
       where c.contype = 'f' and c.confrelid = 'account'::regclass order by 1`,
  );
  const left: string[] = [];
  for (const { name } of tables) {
    const rows = await em().execute<unknown[]>(`select 1 from ${name} where account_id = ?`, [owner.accountId]);
    if (rows.length > 0) left.push(name);
  }
  expect(left).toEqual(['payout_account', 'site']);
});

test('a blocked account is not purged, and neither are its sites', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner);
  await fixture.deleteIt(owner);
  await blockAccount(em(), fixture.deps, owner.accountId, 'Phishing');
  fixture.skip(31 * dayMs);
  const { clock } = fixture;
  const waits = { settled: false, status: 'blocked', leftMs: 3600_000 };
  expect(await settleAccountDeletion(em(), clock, owner.accountId)).toEqual(waits);
  expect(await settleDeletion(em(), clock, site.id)).toEqual(waits);
  expect(await fixture.accountOf(owner.accountId)).toMatchObject({ purgedAt: null, deleteAt: expect.any(Date) });
  await unblockAccount(em(), fixture.deps, owner.accountId);
  await fixture.purge(owner, [site.id]);
});

test('the address of a purged account is reserved for 90 days, then free', async () => {
  const owner = await fixture.newSignedIn();
  await fixture.deleteIt(owner);
  await fixture.purge(owner);
  fixture.skip(89 * dayMs);
  await freeAddresses(em(), fixture.clock.now());
  expect((await fixture.accountOf(owner.accountId)).email).toBe(owner.email);
  const browser = fixture.browser();
  await browser.press(await browser.open('/signin'), 'Send me a link', { email: owner.email });
  expect((await fixture.lettersTo(owner.email))[0]).toMatchObject({ kind: 'signin-link', link: '' });
  const again = await fixture.newSignedIn();
  expect(errorOf(await again.call('PATCH', '/v1/account', { body: { email: owner.email } })).code).toBe('email_taken');
  fixture.skip(2 * dayMs);
  expect(await freeAddresses(em(), fixture.clock.now())).toBeGreaterThanOrEqual(1);
  expect(await freeAddresses(em(), fixture.clock.now())).toBe(0);
  const next = await fixture.signInAgain(owner);
  expect(next.page.text).toContain('No sites yet');
  const [now] = await em().execute<{ id: string }[]>('select id from account where email = ?', [owner.email]);
  expect(now?.id).not.toBe(owner.accountId);
});

test('nobody gets access to an account while it is being deleted', async () => {
  const owner = await fixture.newSignedIn();
  const approved = (await fixture.ask(owner.email)).body;
  const browser = fixture.browser();
  const first = await browser.open(await fixture.linkTo(owner.email, 'access-request'));
  expect((await browser.press(first, 'Give access', { code: approved.user_code })).status).toBe(200);
  const asked = (await fixture.ask(owner.email)).body;
  await fixture.deleteIt(owner);
  const page = await browser.open(await fixture.linkTo(owner.email, 'access-request'));
  const answer = await browser.press(page, 'Give access', { code: asked.user_code });
  expect(answer.status).toBe(403);
  expect(answer.text).toMatch(/You deleted this account[\s\S]*Its owner can sign in and restore it/);
  const refused = await fixture.redeem(approved);
  expect([refused.status, errorOf(refused)]).toEqual([
    403,
    expect.objectContaining({ code: 'account_deleting', next_action: expect.stringContaining('restore the account') }),
  ]);
  // A workflow that was lost is started again, and finds nothing new.
  await restartAccountDeletions(em(), fixture.clock, [await fixture.accountOf(owner.accountId)]);
  await fixture.purge(owner);
  const { browser: late } = await fixture.signInAgain(owner).catch(() => ({ browser: fixture.browser() }));
  expect((await late.open('/account')).text).toContain('Send me a link');
  await expect(issueToken(em(), fixture.clock, owner.accountId, { name: 'late' })).rejects.toThrow('has been deleted');
});
