/**
 * The e-mailed links about a change of address, and what their pages do once the code of the e-mail is typed. Mail
 * scanners open links and submit forms, so nothing happens without the code.
 */

import { LockMode } from '@mikro-orm/core';
import { checkCode, hashCode, isSpent, newUserCode } from '#api/auth/codes.ts';
import { hashSecret } from '#api/secrets.ts';
import { Account } from '#db/accounts/account.ts';
import { AddressLink, type AddressLinkSide } from '#db/accounts/address-link.ts';
import { EmailChange } from '#db/accounts/email-change.ts';
import { revokeAllAccess, revokeTokensOf } from '#db/auth/token-revocation.ts';
import { repeatDeadlocked } from '#db/deadlocks.ts';
import { type ActedBy, platformFor, recordAct } from '#db/history/recording.ts';
import { queueMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { withdrawOffersBy } from '#db/payouts/offer-transitions.ts';
import type { Action } from '#rules/history.ts';
import { addressConfirmMs, undoMs } from '#rules/periods.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import { moveAddress, taken } from './address.ts';
import { requireNotStopped } from './blocked.ts';

/** `stop` ends a pending change; `undo` reverts one that has taken effect. */
export type AddressAct = 'confirm' | 'stop' | 'undo';

export type AddressAnswer =
  | { outcome: 'confirmed_by_old' | 'changed' | 'stopped' | 'undone'; email: string }
  | { outcome: 'wrong_code'; triesLeft: number }
  /** This was the last wrong code. A pending change has ended. */
  | { outcome: 'too_many_codes'; side: AddressLinkSide }
  | { outcome: 'taken' }
  | { outcome: 'over' };

/** The first e-mail of a change, to the present address. */
export function mailOldAddress(tx: EntityManager, deps: Deps, change: EmailChange): void {
  const { email: newAddress, askedBy = null, account, expiresAt: until } = change;
  queueMail(tx, deps, {
    kind: 'address-change',
    to: oldAddressOf(change),
    data: { stage: 'asked', newAddress, askedBy, ...newLink(tx, deps, change, 'old') },
    until,
    account: account.id,
  });
}

/** The change of the link, and what the link can do now. Throws `not_found`. */
export async function readAddressLink(em: EntityManager, { clock }: Pick<Deps, 'clock'>, secret: string) {
  const hash = hashSecret(secret);
  const link = await em.findOne(AddressLink, { hash }, { populate: ['change.account'] });
  if (!link) return noSuchLink();
  const { change, side } = link;
  const { email, askedBy = null, account, expiresAt } = change;
  const shown = { accountName: account.name, newAddress: email, oldAddress: oldAddressOf(change), askedBy, expiresAt };
  return { ...shown, side, acts: actsOf(link, change, clock.now()) };
}

/** Does what the reader of the e-mail wants, once. Throws `not_found`, `expired`, and `access_denied` for a blocked account. */
export async function answerLink(
  em: EntityManager,
  deps: Deps,
  secret: string,
  answer: { act: AddressAct; typed: string },
): Promise<AddressAnswer> {
  // Calls of a thief may lock rows of the account in another order, and must not prevent that its owner undoes a change.
  return await repeatDeadlocked(() => answerOnce(em.fork(), deps, secret, answer));
}

async function answerOnce(
  em: EntityManager,
  deps: Deps,
  secret: string,
  { act, typed }: { act: AddressAct; typed: string },
): Promise<AddressAnswer> {
  return await em.transactional(async (tx) => {
    // Locked, so that concurrent wrong codes are counted one after the other.
    const link = await tx.findOne(
      AddressLink,
      { hash: hashSecret(secret) },
      { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
    );
    if (!link) return noSuchLink();
    const change = await tx.findOneOrFail(EmailChange, { id: link.change.id }, { refresh: true });
    if (!actsOf(link, change, deps.clock.now()).includes(act)) return { outcome: 'over' };
    const checked = checkCode(deps.config.secret, link, typed);
    if (!checked.isRight) return await afterWrongCode(tx, deps, change, { link, triesLeft: checked.triesLeft });
    if (act === 'stop') return await stop(tx, deps, change);
    if (act === 'undo') return await undo(tx, deps, change);
    requireNotStopped(await tx.findOneOrFail(Account, { id: change.account.id }, { refresh: true }));
    return link.side === 'old' ? await confirmByOld(tx, deps, change) : await confirmByNew(tx, deps, change);
  });
}

function actsOf(link: AddressLink, change: EmailChange, now: Date): AddressAct[] {
  const { side } = link;
  const { status, oldConfirmedAt, expiresAt } = change;
  if (expiresAt <= now || isSpent(link)) return [];
  if (status === 'confirmed') return side === 'undo' ? ['undo'] : [];
  if (status !== 'pending') return [];
  if (side === 'old') return oldConfirmedAt ? ['stop'] : ['confirm', 'stop'];
  return side === 'new' ? ['confirm'] : [];
}

async function afterWrongCode(
  tx: EntityManager,
  deps: Deps,
  change: EmailChange,
  { link, triesLeft }: { link: AddressLink; triesLeft: number },
): Promise<AddressAnswer> {
  if (triesLeft > 0) return { outcome: 'wrong_code', triesLeft };
  const ended = await tx.nativeUpdate(EmailChange, { id: change.id, status: 'pending' }, { status: 'ended' });
  if (ended > 0) recordStep(tx, deps, change, 'account.address_change_failed', platformFor(change.account.id));
  return { outcome: 'too_many_codes', side: link.side };
}

async function stop(tx: EntityManager, deps: Deps, change: EmailChange): Promise<AddressAnswer> {
  const stopped = await tx.nativeUpdate(EmailChange, { id: change.id, status: 'pending' }, { status: 'ended' });
  if (stopped === 0) return { outcome: 'over' };
  recordStep(tx, deps, change, 'account.address_change_stopped');
  return { outcome: 'stopped', email: oldAddressOf(change) };
}

async function confirmByOld(tx: EntityManager, deps: Deps, change: EmailChange): Promise<AddressAnswer> {
  const now = deps.clock.now();
  const expiresAt = new Date(now.getTime() + addressConfirmMs);
  const open = { id: change.id, status: 'pending', oldConfirmedAt: null } as const;
  if ((await tx.nativeUpdate(EmailChange, open, { oldConfirmedAt: now, expiresAt })) === 0) return { outcome: 'over' };
  recordStep(tx, deps, change, 'account.address_confirmed');
  const { account, email, askedBy = null } = change;
  const { name: accountName } = await tx.findOneOrFail(Account, { id: account.id });
  queueMail(tx, deps, {
    kind: 'address-confirmation',
    to: email,
    data: { accountName, askedBy, ...newLink(tx, deps, change, 'new') },
    until: expiresAt,
    account: account.id,
  });
  return { outcome: 'confirmed_by_old', email };
}

async function confirmByNew(tx: EntityManager, deps: Deps, change: EmailChange): Promise<AddressAnswer> {
  const { id, account, email, askedBy = null } = change;
  const moved = await moveAddress(tx, deps, account.id, email);
  if (!moved) {
    await tx.nativeUpdate(EmailChange, { id, status: 'pending' }, { status: 'ended' });
    return { outcome: 'taken' };
  }
  const until = new Date(deps.clock.now().getTime() + undoMs);
  await settle(tx, change, 'pending', { status: 'confirmed', expiresAt: until });
  recordStep(tx, deps, change, 'account.address_changed');
  queueMail(tx, deps, {
    kind: 'address-change',
    to: moved.old,
    data: { stage: 'done', newAddress: email, askedBy, ...newLink(tx, deps, change, 'undo') },
    until,
    account: account.id,
  });
  return { outcome: 'changed', email };
}

/** Restores the address. What the account did lately may be a thief's: every token and session ends, and what it offers. */
async function undo(tx: EntityManager, deps: Deps, change: EmailChange): Promise<AddressAnswer> {
  const { account, email: newAddress } = change;
  const oldAddress = oldAddressOf(change);
  // Before the account is locked, too: calls that make something lock their token first.
  await revokeTokensOf(tx, account.id, deps.clock.now());
  if (!(await moveAddress(tx, deps, account.id, oldAddress))) throw taken();
  await settle(tx, change, 'confirmed', { status: 'ended' });
  recordStep(tx, deps, change, 'account.address_change_undone');
  await revokeAllAccess(tx, account.id, deps.clock.now());
  // The address is settled from now on, so a thief's own account could accept.
  await withdrawOffersBy(tx, deps.clock, account.id);
  const data = { stage: 'undone', oldAddress } as const;
  queueMail(tx, deps, { kind: 'address-change', to: newAddress, data, account: account.id });
  return { outcome: 'undone', email: oldAddress };
}

/** A person acts here, with a code from a mailbox. */
function recordStep(
  tx: EntityManager,
  { clock }: Deps,
  change: EmailChange,
  action: Action,
  by: ActedBy = { accountId: change.account.id },
): void {
  const { account, email: to } = change;
  const detail = { from: oldAddressOf(change), to };
  recordAct(tx, clock, by, action, { subject: { id: account.id, name: null }, detail });
}

/** Under the account's lock, so that nothing else settles the change in between. Throws `expired`. */
async function settle(
  tx: EntityManager,
  { id }: EmailChange,
  status: EmailChange['status'],
  settled: Partial<Pick<EmailChange, 'status' | 'expiresAt'>>,
): Promise<void> {
  if ((await tx.nativeUpdate(EmailChange, { id, status }, settled)) > 0) return;
  throw errors.expired('This change was replaced by a newer one, stopped, or already made.');
}

/** A new link, as its e-mail needs it: only hashes of its secret and code are stored. */
function newLink(tx: EntityManager, { clock, config }: Deps, change: EmailChange, side: AddressLinkSide) {
  const [id, secret, code] = [newId('link'), newSecret('fre'), newUserCode()];
  tx.create(AddressLink, {
    id,
    change,
    side,
    hash: hashSecret(secret),
    codeHash: hashCode(config.secret, id, code),
    createdAt: clock.now(),
  });
  return { link: `${config.baseUrl}/address/${secret}`, code };
}

/** Every change with a link has one. */
const oldAddressOf = ({ oldEmail }: EmailChange): string => oldEmail ?? '';

function noSuchLink(): never {
  throw errors.not_found('This link is not valid or has expired.');
}
