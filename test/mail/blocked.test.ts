/** Mails of an account that a person of the platform has stopped. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailActivities } from '#activities/mail.ts';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { Mail } from '#db/mail/mail.ts';
import { queueMail } from '#db/mail/queue.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { setCounters } from '#runtime/telemetry/metrics.ts';
import { people } from '#test/invitations/world.ts';
import { until } from '#test/stack/until.ts';
import { createMailWorld, type MailWorld } from './world.ts';

let world: MailWorld;
beforeAll(async () => {
  world = await createMailWorld();
}, 60_000);
afterAll(() => world?.close());

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

test('mails of a blocked account wait until it goes on, those of its sites too; its owner is told the reason at once', async () => {
  const blocked = await world.newCaller();
  const { email } = (await blocked.call('GET', '/v1/account')).body;
  const its = await people(world).newSite(blocked);
  const [to, em] = ['guest@example.com', () => world.deps.em()];
  // Blocked before the worker has it in hand: the two are one transaction.
  const mail = await em().transactional(async (tx) => {
    await blockAccount(tx, world, blocked.accountId, 'Its sites ask for passwords of a bank.');
    const data = { hostname: 'x.example.com', link: 'https://example.com/l', days: 14 };
    return queueMail(tx, world, { kind: 'invitation', to, data, site: its.id });
  });
  const [told] = await until(
    () => world.mailsTo(email),
    ({ length }) => length > 0,
  );
  expect(told).toMatchObject({ subject: 'Your account is blocked' });
  expect(told?.text).toContain('Its sites ask for passwords of a bank.');
  const { workflow } = world.deps.temporal;
  const { steps, mails } = counted();
  const tried = async () => (await workflow.getHandle(workflowIds.notify(mail.id)).describe()).raw.pendingActivities;
  const isTried = (times: number) => (pending: Awaited<ReturnType<typeof tried>>) =>
    (pending?.[0]?.lastFailure?.message ?? '').includes('is blocked') && (pending?.[0]?.attempt ?? 0) >= times;
  await until(tried, isTried(1));
  await until(tried, isTried(3));
  // It waits on purpose: nothing that anybody should look at.
  expect(steps.filter((step) => step === 'sendMail failed')).toEqual([]);
  expect(mails).not.toContain('given_up');
  expect(world.mailsTo(to)).toEqual([]);
  expect((await em().findOneOrFail(Mail, { id: mail.id })).status).toBe('queued');
  await unblockAccount(em(), world, blocked.accountId);
  await until(
    () => world.mailsTo(to),
    ({ length }) => length === 1,
  );
  expect(
    (
      await until(
        () => world.mailsTo(email),
        ({ length }) => length === 2,
      )
    )[0]?.subject,
  ).toBe('Your account has been unblocked');
});

test('a mail that was held until its days were over says that its account was blocked, and is no fault of ours', async () => {
  const blocked = await world.newCaller();
  const { mails } = counted();
  const mail = await world.deps.em().transactional(async (tx) => {
    await blockAccount(tx, world, blocked.accountId, 'Its sites ask for passwords of a bank.');
    const data = { hostname: 'x.example.com', link: 'https://example.com/l', days: 14 };
    return queueMail(tx, world, { kind: 'invitation', to: 'guest@example.com', data, account: blocked.accountId });
  });
  const { giveUpMail } = mailActivities(world.deps);
  expect(await giveUpMail(mail.id)).toBe('failed');
  const { failure } = await world.deps.em().findOneOrFail(Mail, { id: mail.id });
  expect(failure).toBe('its account was blocked');
  const [line] = world.logged.filter((one) => one.mailId === mail.id && one.msg.includes('given up'));
  expect([line?.level, mails.includes('given_up')]).toEqual([30, false]);
});
