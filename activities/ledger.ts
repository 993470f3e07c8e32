/**
 * The ledger check: each charge is a payment that is paid, or goes back, or is flagged; each booking that was paid has a seat or its money back. It
 * does by itself what a lost workflow should have done, so a flag is for a person.
 */
import { recordCharge, refundCaptured } from '#db/payments/charges.ts';
import {
  chargedSince,
  type Finding,
  findContradictions,
  findOverdue,
  flaggedCharges,
  recordFlags,
} from '#db/payments/ledger.ts';
import { found } from '#db/payments/ledger-findings.ts';
import type { LedgerFlag } from '#db/payments/ledger-flag.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { withPayment } from '#db/payments/transitions.ts';
import { credentialsOf } from '#db/payouts/credentials.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { type Charge, PaymentsFault } from '#providers/payments.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';
import { withHeartbeat } from './heartbeat.ts';
import { giveBackCharge } from './payments/refunds.ts';
import { requirePayments, settleAttempt } from './payments.ts';

/** Charges are compared for so long after they were made. */
const comparedPeriodMs = 8 * 24 * 3600_000;

export type LedgerResult = { charges: number; flagged: number };

export function ledgerActivities(deps: Deps) {
  return { checkLedger: (): Promise<LedgerResult> => withHeartbeat(() => checkLedger(deps)) };
}

export async function checkLedger(deps: Deps): Promise<LedgerResult> {
  await resumeAbandoned(deps);
  const since = new Date(deps.clock.now().getTime() - comparedPeriodMs);
  const ledger: Findings = { findings: [], judged: new Set() };
  for (const accountId of deps.payments ? await chargedSince(deps.em(), since) : []) {
    await compareAccount(deps, accountId, since, ledger);
  }
  const charges = ledger.judged.size;
  for (const flag of deps.payments ? await flaggedCharges(deps.em()) : []) await recheckFlagged(deps, flag, ledger);
  ledger.findings.push(...(await findContradictions(deps.em(), deps.clock.now())));
  const { news, open } = await recordFlags(deps.em(), deps.clock.now(), ledger);
  for (const { subject, why } of news) deps.log.error({ subject, why }, 'the ledger check found what it cannot mend');
  return { charges, flagged: open };
}

/** What was found, and the charges that were looked at to find it. */
type Findings = { findings: Finding[]; judged: Set<string> };

/** What a workflow that was lost or gave up should have done. */
async function resumeAbandoned(deps: Deps): Promise<void> {
  const { attempts, refunds } = await findOverdue(deps.em(), deps.clock.now());
  for (const id of attempts) await settleAttempt(deps, id);
  // Why one is hindered stands in its row by then.
  for (const id of refunds) await giveBackCharge(deps, id).catch(() => {});
}

async function compareAccount(deps: Deps, id: string, since: Date, ledger: Findings): Promise<void> {
  const account = await deps.em().findOneOrFail(PayoutAccount, { id });
  await tolerateProviderFaults(deps, id, async () => {
    for await (const charge of requirePayments(deps).listCharges(credentialsOf(deps, account), since)) {
      await checkCharge(deps, account, charge, ledger);
    }
  });
}

/** A charge that was flagged and that the lists above do not have any more stays flagged until it is seen to be in order. */
async function recheckFlagged(deps: Deps, { subject, payoutAccountId }: LedgerFlag, ledger: Findings): Promise<void> {
  if (ledger.judged.has(subject) || !payoutAccountId) return;
  const account = await deps.em().findOneOrFail(PayoutAccount, { id: payoutAccountId });
  await tolerateProviderFaults(deps, account.id, async () => {
    await checkCharge(
      deps,
      account,
      await requirePayments(deps).readCharge(credentialsOf(deps, account), subject),
      ledger,
    );
  });
}

async function tolerateProviderFaults(deps: Deps, payoutAccountId: string, look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    // An account that is gone or that is not answered for is asked about next time.
    if (!(error instanceof PaymentsFault || error instanceof AppError)) throw error;
    deps.log.warn({ err: error, payoutAccountId }, 'the charges of an account could not be compared');
  }
}

async function checkCharge(deps: Deps, account: PayoutAccount, charge: Charge, { findings, judged }: Findings) {
  const why = charge.isPaid ? await compareCharge(deps, account, charge) : undefined;
  judged.add(charge.id);
  if (why !== undefined) findings.push({ subject: charge.id, payoutAccountId: account.id, why });
}

/** Brings our rows to what was charged. Answers what a person has to look at. */
async function compareCharge(
  deps: Deps,
  { id, providerAccount = null }: PayoutAccount,
  charge: Charge,
): Promise<string | undefined> {
  // One account of the provider may be here twice, as when it was removed and added again.
  const same = providerAccount === null ? { id } : { providerAccount };
  const load = () => deps.em().findOne(PaymentAttempt, { id: charge.attempt ?? '', payment: { payoutAccount: same } });
  const known = await load();
  if (!known) return charge.isRefunded ? undefined : found.foreign;
  const { payment, page } = known;
  if (!known.charge) await recordCharge(deps.em(), deps, { id: known.id, payment, page: page ?? null }, charge.id);
  const attempt = (await load()) ?? known;
  if (attempt.charge !== charge.id) return charge.isRefunded ? undefined : found.another;
  if (charge.isRefunded && !attempt.refundReason) {
    // By the owner, in their own dashboard.
    await withPayment(deps.em(), payment.id, (locked) => refundCaptured(locked, deps.clock, 'asked'));
  }
  if (!charge.isRefunded && attempt.refundedAt) return found.notGivenBack;
  return undefined;
}
