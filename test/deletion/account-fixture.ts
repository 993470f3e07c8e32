/** Owners who delete their account, the worker that purges it, and what is left of it. */
import { expect } from 'vitest';
import { Account } from '#db/accounts/account.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { newId } from '#runtime/ids.ts';
import type { Browser } from '#test/people/browser.ts';
import { createPeopleFixture, type PeopleFixture } from '#test/people/fixture.ts';
import { aroundActivities, createNamespace, startWorker } from '#test/stack/worker.ts';

const dayMs = 24 * 3600_000;
type Owner = Awaited<ReturnType<PeopleFixture['newSignedIn']>>;

export async function createAccountDeletionFixture() {
  const { around, interceptors } = aroundActivities();
  const fixture = await createPeopleFixture({
    TEMPORAL_NAMESPACE: await createNamespace(),
    FRONTAGE_RATE_SCALE: '10',
    FRONTAGE_SIGNUP: 'open',
  });
  const worker = await startWorker(fixture.deps, { interceptors });
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

  return {
    ...fixture,
    around,
    em,
    workflowOf,
    siteWorkflowOf,
    accountOf,
    deleteIt,
    purge,
    signInAgain,
    addPayoutAccount,
    async close() {
      await worker.close();
      await fixture.close();
    },
  };
}
export type AccountDeletionFixture = Awaited<ReturnType<typeof createAccountDeletionFixture>>;
