/** Mails of an account that a person of the platform has stopped. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailActivities } from '#activities/mail.ts';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { Mail } from '#db/mail/mail.ts';
import { queueMail } from '#db/mail/queue.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { setCounters } from '#runtime/telemetry/metrics.ts';
import { people } from '#test/invitations/fixture.ts';
import { until } from '#test/stack/until.ts';
import { createMailFixture, type MailFixture } from './fixture.ts';

let fixture: MailFixture;
beforeAll(async () => {
  fixture = await createMailFixture();
}, 60_000);
afterAll(() => fixture?.close());

/** What is counted from now on. */
function counted() {
  const [steps, mails]: string[][] = [[], []];
  const nothing = () => {};
  setCounters({
    repair: nothing,
    request: nothing,
    build: nothing,
    spans: nothing,
    activity: (step, outcome) => void steps?.push(`${step} ${outcome}`),
    mail: (outcome) => void mails?.push(outcome),
  });
  return { steps: steps as string[], mails: mails as string[] };
}

test('mails of a blocked account and its sites wait; its owner gets the reason', async () => {
  const blocked = await fixture.newCaller();
  const { email } = (await blocked.call('GET', '/v1/account')).body;
  const its = await people(fixture).newSite(blocked);
  const [to, em] = ['guest@example.com', () => fixture.deps.em()];
  // Blocked before the worker has it in hand: the two are one transaction.
  const mail = await em().transactional(async (tx) => {
    await blockAccount(tx, fixture, blocked.accountId, 'Its sites ask for passwords of a bank.');
    const data = { hostname: 'x.example.com', link: 'https://example.com/l', days: 14 };
    return queueMail(tx, fixture, { kind: 'invitation', to, data, site: its.id });
  });
  const [told] = await until(
    () => fixture.mailsTo(email),
    ({ length }) => length > 0,
  );
  expect(told).toMatchObject({ subject: 'Your account has been blocked' });
  expect(told?.text).toContain('Its sites ask for passwords of a bank.');
  const { workflow } = fixture.deps.temporal;
  const { steps, mails } = counted();
  const tried = async () => (await workflow.getHandle(workflowIds.notify(mail.id)).describe()).raw.pendingActivities;
  const isTried = (times: number) => (pending: Awaited<ReturnType<typeof tried>>) =>
    (pending?.[0]?.lastFailure?.message ?? '').includes('is blocked') && (pending?.[0]?.attempt ?? 0) >= times;
  await until(tried, isTried(1));
  await until(tried, isTried(3));
  // It waits on purpose: nothing that anybody should look at.
  expect(steps.filter((step) => step === 'sendMail failed')).toEqual([]);
  expect(mails).not.toContain('given_up');
  expect(fixture.mailsTo(to)).toEqual([]);
  expect((await em().findOneOrFail(Mail, { id: mail.id })).status).toBe('queued');
  await unblockAccount(em(), fixture, blocked.accountId);
  await until(
    () => fixture.mailsTo(to),
    ({ length }) => length === 1,
  );
  expect(
    (
      await until(
        () => fixture.mailsTo(email),
        ({ length }) => length === 2,
      )
    )[0]?.subject,
  ).toBe('Your account has been unblocked');
});

test('a mail delayed beyond its limit by a block fails with that reason', async () => {
  const blocked = await fixture.newCaller();
  const { mails } = counted();
  const mail = await fixture.deps.em().transactional(async (tx) => {
    await blockAccount(tx, fixture, blocked.accountId, 'Its sites ask for passwords of a bank.');
    const data = { hostname: 'x.example.com', link: 'https://example.com/l', days: 14 };
    return queueMail(tx, fixture, { kind: 'invitation', to: 'guest@example.com', data, account: blocked.accountId });
  });
  const { giveUpMail } = mailActivities(fixture.deps);
  expect(await giveUpMail(mail.id)).toBe('failed');
  const { failure } = await fixture.deps.em().findOneOrFail(Mail, { id: mail.id });
  expect(failure).toBe('the account was blocked');
  const [line] = fixture.logged.filter((one) => one.mailId === mail.id && one.msg.includes('abandoned'));
  expect([line?.level, mails.includes('given_up')]).toEqual([30, false]);
});
