/** Findings that the ledger check cannot repair: flagged for the operator until resolved. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkLedger } from '#activities/ledger.ts';
import { listFlags, settleFlag } from '#db/payments/ledger.ts';
import { explained, findings } from '#db/payments/ledger-findings.ts';
import { LedgerFlag } from '#db/payments/ledger-flag.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { newId } from '#runtime/ids.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const dayMs = 24 * 3600_000;
const flagOf = (subject: string) => fixture.deps.em().findOne(LedgerFlag, { subject });

/** A charge at the provider that names a page of which nothing is here. */
async function foreignCharge() {
  const made = await fixture.newPayment();
  await fixture.press((await fixture.openLink(made.payUrl)).page);
  const { charge } = await fixture.deps.em().findOneOrFail(PaymentAttempt, { payment: made.id });
  const known = fixture.stub.stub.objects.get(charge ?? '');
  if (!known) throw new Error('nothing was charged');
  const latest_charge = { ...(known.latest_charge as object), refunded: false };
  const strange = { ...known, id: `pi_${newId('page')}`, latest_charge, metadata: { attempt: newId('page') } };
  fixture.stub.stub.objects.set(strange.id, strange);
  await checkLedger(fixture.deps);
  expect((await flagOf(strange.id))?.why).toBe(findings.foreign);
  return { ...made, subject: strange.id, latest_charge };
}

test('a charge’s flag stays while the provider is silent, and goes when resolved', async () => {
  const { subject, latest_charge } = await foreignCharge();
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  await checkLedger(fixture.deps);
  fixture.stub.knobs.turnAway = 0;
  expect(await flagOf(subject)).not.toBe(null);
  fixture.skip(10 * dayMs);
  await checkLedger(fixture.deps);
  expect(await flagOf(subject)).not.toBe(null);
  latest_charge.refunded = true;
  await checkLedger(fixture.deps);
  expect(await flagOf(subject)).toBe(null);
});

const operator = async (...args: string[]) => {
  const env = { ...process.env, DATABASE_URL: fixture.database.url, FRONTAGE_SECRET: fixture.config.secret };
  const run = promisify(execFile)(process.execPath, ['operator/admin.ts', 'ledger', ...args], { env });
  return JSON.parse((await run).stdout);
};

test('an operator lists flags with explanations, and settles one by hand', async () => {
  const { subject, account } = await foreignCharge();
  const gone = { status: 'gone' as const, sealedKey: null, goneAt: fixture.clock.now() };
  await fixture.deps.em().nativeUpdate(PayoutAccount, { id: account.id }, gone);
  const { flagged } = await checkLedger(fixture.deps);
  const shown = (await operator('list')).items.find((one: { subject: string }) => one.subject === subject);
  expect(shown).toMatchObject({ ...explained(findings.foreign), payout_account_id: account.id, why: findings.foreign });
  await expect(settleFlag(fixture.deps.em(), fixture.clock, 'pi_none', 'x')).rejects.toMatchObject({
    code: 'not_found',
  });
  await operator('settle', '--subject', subject, '--reason', 'refunded by its owner');
  const left = await listFlags(fixture.deps.em(), { settled: false });
  expect(left.map((one) => one.subject)).not.toContain(subject);
  // It is found no more by the check, and told no more.
  expect((await checkLedger(fixture.deps)).flagged).toBe(flagged - 1);
  const all = await listFlags(fixture.deps.em(), { settled: true });
  expect(all.find((one) => one.subject === subject)).toMatchObject({ settled_because: 'refunded by its owner' });
  await fixture.deps.em().nativeUpdate(LedgerFlag, { subject }, { settledAt: null, settledBecause: null });
});

test('every finding is explained, with its detail', () => {
  for (const why of Object.values(findings)) {
    const { means, do: what } = explained(why);
    expect(means).not.toBe(why);
    expect(explained(`${why}: some detail`)).toEqual({ means, do: what });
  }
});
