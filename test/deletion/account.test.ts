/** An owner deletes the account in a browser, restores it within 30 days, or lets it be purged. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { Account } from '#db/accounts/account.ts';
import { freeAddresses, restartAccountDeletions } from '#db/accounts/deletion.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { newId } from '#runtime/ids.ts';
import { createSite, errorOf } from '#test/api/fixture.ts';
import type { Browser } from '#test/people/browser.ts';
import { createPeopleFixture, type PeopleFixture } from '#test/people/fixture.ts';
import { type ActivityFault, activityFaults } from '#test/publishing/activity-faults.ts';
import { aroundActivities, createNamespace, startWorker } from '#test/stack/worker.ts';

vi.setConfig({ testTimeout: 90_000 });
const dayMs = 24 * 3600_000;
const steps = ['endAccountMoney', 'settleAccountDeletion', 'forgetAccount', 'finishAccountPurge'];

const { around, interceptors } = aroundActivities();
let fixture: PeopleFixture;
let worker: Awaited<ReturnType<typeof startWorker>>;
beforeAll(async () => {
  fixture = await createPeopleFixture({
    TEMPORAL_NAMESPACE: await createNamespace(),
    FRONTAGE_RATE_SCALE: '10',
    FRONTAGE_SIGNUP: 'open',
  });
  worker = await startWorker(fixture.deps, { interceptors });
}, 120_000);
afterEach(() => around.clear());
afterAll(async () => {
  await worker?.close();
  await fixture?.close();
});

type Owner = Awaited<ReturnType<PeopleFixture['newSignedIn']>>;
const em = () => fixture.deps.em();
const workflowOf = (id: string) => fixture.deps.temporal.workflow.getHandle(workflowIds.deleteAccount(id));
const siteWorkflowOf = (id: string) => fixture.deps.temporal.workflow.getHandle(workflowIds.deleteSite(id));
const accountOf = (id: string) => em().findOneOrFail(Account, { id });

async function askForCode({ browser, email }: Pick<Owner, 'browser' | 'email'>) {
  const page = await browser.press(await browser.open('/account/delete'), 'E-mail me the code');
  const code = (await fixture.lettersTo(email)).find(({ kind }) => kind === 'account-deletion')?.code ?? '';
  return { page, code };
}

async function deleteIt(owner: Pick<Owner, 'browser' | 'email'>) {
  const { page, code } = await askForCode(owner);
  return await owner.browser.press(page, 'Delete my account', { code });
}

async function purge(owner: Pick<Owner, 'accountId'>, siteIds: string[] = []): Promise<void> {
  await expect.poll(async () => (await workflowOf(owner.accountId).describe()).status.name).toBe('RUNNING');
  fixture.skip(31 * dayMs);
  // As the workflows' own timers would: the engine's clock cannot be moved.
  await workflowOf(owner.accountId).signal('moved');
  for (const id of siteIds) {
    await siteWorkflowOf(id).signal('moved');
    expect(await siteWorkflowOf(id).result()).toEqual({ status: 'purged' });
  }
  expect(await workflowOf(owner.accountId).result()).toEqual({ status: 'purged' });
}

/** A second browser, signed in to the account under deletion. */
async function signInAgain({
  email,
}: Pick<Owner, 'email'>): Promise<{ browser: Browser; page: Awaited<ReturnType<Browser['open']>> }> {
  const browser = fixture.browser();
  return { browser, page: await fixture.signIn(browser, email) };
}

async function addPayoutAccount(owner: Owner, siteId: string): Promise<string> {
  const [id, now] = [newId('pout'), fixture.clock.now()];
  await em().execute(
    `insert into payout_account (id, account_id, rail, name, status, created_at) values (?, ?, 'connect', 'Shop', 'pending', ?)`,
    [id, owner.accountId, now],
  );
  await em().execute(`insert into payout_agreement (id, site_id, payout_account_id, began_at) values (?, ?, ?, ?)`, [
    newId('agr'),
    siteId,
    id,
    now,
  ]);
  return id;
}

test('a typed code takes the account offline, and its owner restores it', async () => {
  const owner = await fixture.newSignedIn();
  const host = await fixture.newSignedIn();
  const site = await createSite(owner);
  const foreign = await createSite(host);
  await em().execute('insert into collaborator (site_id, account_id, since) values (?, ?, ?)', [
    foreign.id,
    owner.accountId,
    fixture.clock.now(),
  ]);
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
  await addPayoutAccount(owner, site.id);
  const before = await owner.browser.open('/account/delete');
  expect(before.text).toMatch(
    /1 website goes offline[\s\S]*1 agreement about payouts ends[\s\S]*1 website of somebody else/,
  );
  expect((await owner.browser.open('/account')).text).toContain('href="/account/delete"');

  const done = await deleteIt(owner);
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
  await expect.poll(async () => (await siteWorkflowOf(site.id).describe()).status.name).toBe('RUNNING');
  const letter = (await fixture.lettersTo(owner.email))[0];
  expect(letter).toMatchObject({
    kind: 'account-deletion',
    link: '/account/restore',
    subject: expect.stringMatching(/^Your account will be deleted on /),
  });

  const { browser, page } = await signInAgain(owner);
  expect(page.text).toContain('Keep your account?');
  for (const path of ['/account', '/account/delete', `/account/sites/${site.id}/restore`])
    expect((await browser.open(path)).text).toContain('Keep your account?');
  const back = await browser.press(page, 'Restore my account');
  expect(back.text).toContain('Your account');
  expect(back.text).toContain('archived');
  expect(await workflowOf(owner.accountId).result()).toEqual({ status: 'restored' });
  expect(await siteWorkflowOf(site.id).result()).toEqual({ status: 'restored' });
  expect((await owner.call('GET', '/v1/account')).status).toBe(401);
  expect((await browser.open('/account/restore')).text).toContain('not being deleted');
  const acts = await em().execute(`select action from history_entry where owner_id = ? order by id desc limit 2`, [
    owner.accountId,
  ]);
  expect(acts).toEqual([{ action: 'account.restored' }, { action: 'account.deleted' }]);
});

test('a site that its owner deleted before stays deleted when the account is restored', async () => {
  const owner = await fixture.newSignedIn();
  const [kept, gone] = [await createSite(owner), await createSite(owner)];
  await owner.call('POST', `/v1/sites/${gone.id}/archive`);
  expect((await owner.call('DELETE', `/v1/sites/${gone.id}?confirm=true`)).body.status).toBe('deleting');
  fixture.skip(3600_000);
  await deleteIt(owner);
  const { browser, page } = await signInAgain(owner);
  await browser.press(page, 'Restore my account');
  const rows = await em().execute<{ id: string }[]>(
    'select id from site where account_id = ? and delete_at is not null',
    [owner.accountId],
  );
  expect(rows).toEqual([{ id: gone.id }]);
  expect(kept.id).not.toBe(gone.id);
});

test.each(['', ...Object.keys(activityFaults)] as (ActivityFault | '')[])(
  'a purge leaves receipts only, also where each step %s',
  async (fault) => {
    const owner = await fixture.newSignedIn();
    const site = await createSite(owner);
    const payout = await addPayoutAccount(owner, site.id);
    if (fault) for (const step of steps.slice(0, 2)) around.set(step, activityFaults[fault]);
    await deleteIt(owner);
    await expect.poll(() => around.size).toBe(0);
    if (fault) for (const step of steps.slice(1)) around.set(step, activityFaults[fault]);
    await purge(owner, [site.id]);
    expect(around.size).toBe(0);
    expect(await accountOf(owner.accountId)).toMatchObject({
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
  },
);

test('the address of a purged account is reserved for 90 days, then free', async () => {
  const owner = await fixture.newSignedIn();
  await deleteIt(owner);
  await purge(owner);
  fixture.skip(89 * dayMs);
  await freeAddresses(em(), fixture.clock.now());
  expect((await accountOf(owner.accountId)).email).toBe(owner.email);
  const browser = fixture.browser();
  await browser.press(await browser.open('/signin'), 'Send me a link', { email: owner.email });
  expect((await fixture.lettersTo(owner.email))[0]).toMatchObject({ kind: 'signin-link', link: '' });
  const again = await fixture.newSignedIn();
  expect(errorOf(await again.call('PATCH', '/v1/account', { body: { email: owner.email } })).code).toBe('email_taken');
  fixture.skip(2 * dayMs);
  expect(await freeAddresses(em(), fixture.clock.now())).toBeGreaterThanOrEqual(1);
  expect(await freeAddresses(em(), fixture.clock.now())).toBe(0);
  const next = await signInAgain(owner);
  expect(next.page.text).toContain('No sites yet');
  const [now] = await em().execute<{ id: string }[]>('select id from account where email = ?', [owner.email]);
  expect(now?.id).not.toBe(owner.accountId);
});

test('nobody gets access to an account while it is being deleted', async () => {
  const owner = await fixture.newSignedIn();
  const asked = (await fixture.ask(owner.email)).body;
  await deleteIt(owner);
  const browser = fixture.browser();
  const page = await browser.open(await fixture.linkTo(owner.email, 'access-request'));
  const answer = await browser.press(page, 'Give access', { code: asked.user_code });
  expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('being deleted')]);
  // A workflow that was lost is started again, and finds nothing new.
  await restartAccountDeletions(em(), fixture.clock, [await accountOf(owner.accountId)]);
  await purge(owner);
  const { browser: late } = await signInAgain(owner).catch(() => ({ browser: fixture.browser() }));
  expect((await late.open('/account')).text).toContain('Send me a link');
  await expect(issueToken(em(), fixture.clock, owner.accountId, { name: 'late' })).rejects.toThrow('is being deleted');
});
