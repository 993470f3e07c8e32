/**
 * The ledger check: each charge is a payment that is paid, or goes back, or is flagged; each booking that was paid has a seat or its money back. It
 * does by itself what a lost workflow should have done, so a flag is for a person.
 */
import { beginRefund, takeCharge } from '../db/charges.ts';
import { PaymentAttempt } from '../db/entities/payment-attempt.ts';
import { PayoutAccount } from '../db/entities/payout-account.ts';
import { chargedSince, type Finding, findContradictions, findLeftBehind, keepFlags } from '../db/ledger.ts';
import { withPayment } from '../db/payments.ts';
import { credentialsOf } from '../db/payouts.ts';
import { AppError } from '../errors.ts';
import { type Charge, PaymentsFault } from '../providers/payments.ts';
import type { PlatformDeps } from './index.ts';
import { refundActivities } from './payments/refunding.ts';
import { required, settleAttempt } from './payments.ts';

/** Charges are compared for so long after they were made. */
const comparedMs = 8 * 24 * 3600_000;

export type Checked = { charges: number; flagged: number };

export function ledgerActivities(deps: PlatformDeps) {
  return { checkLedger: (): Promise<Checked> => checkLedger(deps) };
}

export async function checkLedger(deps: PlatformDeps): Promise<Checked> {
  await finishLeftBehind(deps);
  const since = new Date(deps.clock.now().getTime() - comparedMs);
  const findings: Finding[] = [];
  let charges = 0;
  for (const accountId of deps.payments ? await chargedSince(deps.em(), since) : []) {
    charges += await compareAccount(deps, accountId, since, findings);
  }
  findings.push(...(await findContradictions(deps.em(), deps.clock.now())));
  for (const { subject, why } of await keepFlags(deps.em(), deps.clock.now(), findings)) {
    deps.log.error({ subject, why }, 'the ledger check found what it cannot mend');
  }
  return { charges, flagged: findings.length };
}

/** What a workflow that was lost or gave up should have done. */
async function finishLeftBehind(deps: PlatformDeps): Promise<void> {
  const { attempts, refunds } = await findLeftBehind(deps.em(), deps.clock.now());
  for (const id of attempts) await settleAttempt(deps, id);
  const { giveBackCharge } = refundActivities(deps);
  // Why one is hindered stands in its row by then.
  for (const id of refunds) await giveBackCharge(id).catch(() => {});
}

/** Answers how many charges the account has of ours. */
async function compareAccount(deps: PlatformDeps, id: string, since: Date, findings: Finding[]): Promise<number> {
  const account = await deps.em().findOneOrFail(PayoutAccount, { id });
  let count = 0;
  try {
    for await (const charge of required(deps).listCharges(credentialsOf(deps, account), since)) {
      count += 1;
      const why = charge.isPaid ? await compareCharge(deps, account, charge) : undefined;
      if (why !== undefined) findings.push({ subject: charge.id, payoutAccountId: id, why });
    }
  } catch (error) {
    // An account that is gone or that is not answered for is asked about next time.
    if (!(error instanceof PaymentsFault || error instanceof AppError)) throw error;
    deps.log.warn({ err: error, payoutAccountId: id }, 'the charges of an account could not be compared');
  }
  return count;
}

/** Brings our rows to what was charged. Answers what a person has to look at. */
async function compareCharge(
  deps: PlatformDeps,
  { id, providerAccount = null }: PayoutAccount,
  charge: Charge,
): Promise<string | undefined> {
  // One account of the provider may be here twice, as when it was removed and added again.
  const same = providerAccount === null ? { id } : { providerAccount };
  const load = () => deps.em().findOne(PaymentAttempt, { id: charge.attempt ?? '', payment: { payoutAccount: same } });
  const known = await load();
  if (!known) return 'was charged for a payment that is not here';
  const { payment, page } = known;
  if (!known.charge) await takeCharge(deps.em(), deps, { id: known.id, payment, page: page ?? null }, charge.id);
  const attempt = (await load()) ?? known;
  if (attempt.charge !== charge.id) return 'was charged on a page on which another charge was made';
  if (charge.isRefunded && !attempt.refundReason) {
    // By the owner, in their own dashboard.
    await withPayment(deps.em(), payment.id, (locked) => beginRefund(locked, deps.clock, 'asked'));
  }
  if (!charge.isRefunded && attempt.refundedAt) return 'was given back here, and not at the provider';
  return undefined;
}
