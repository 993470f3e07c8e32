/** E-mails to a domain's account: it is live, something is wrong with its DNS, or its TXT record is missing. */
import { Account } from '#db/accounts/account.ts';
import { wantsMail } from '#db/accounts/mail-choices.ts';
import { Certificate } from '#db/certificates/certificate.ts';
import { queueMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { dueMails } from '#rules/dns/mails.ts';
import { displayName } from '#rules/dns/names.ts';
import { proofName } from '#rules/dns/observation.ts';
import { problemsOf } from '#rules/dns/problems.ts';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { type OwnerPath, ownerLinks, ownerPage } from '#runtime/owner-pages.ts';
import type { MailKind } from '#web/mails/mails.ts';
import { addressOnDomain } from './canonical-url.ts';
import type { Domain } from './domain.ts';

export type DomainMailDeps = { clock: Clock; config: Config };

/** Of one account, for all its domains. Beyond it an e-mail waits for a later check. */
const accountPerHour = 40;
const kinds = ['domain-live', 'domain-trouble', 'domain-proof-missing'] as const satisfies MailKind[];

/**
 * Queues the e-mails that the domain's state makes due; its row is locked. Trouble is e-mailed once per episode, after
 * two checks have seen it, and never for a DNS that did not respond. Owners can switch these off, but not the e-mail about
 * a missing proof, because another account can claim the domain.
 */
export async function queueDomainMails(tx: EntityManager, deps: DomainMailDeps, domain: Domain): Promise<void> {
  const { clock, config } = deps;
  const { live, trouble, proof } = await due(tx, deps, domain);
  if (!live && !trouble && !proof) return;
  if (!(await isBelowLimit(tx, deps, domain.account.id))) return;
  const now = clock.now();
  if (live) domain.liveMailedAt = now;
  if (trouble) domain.troubleMailedAt = now;
  if (proof) domain.proofMailedAt = now;
  if (!config.mail) return;
  const isWanted = (live || trouble) && (await wantsMail(tx, domain.account.id, 'domains'));
  if (live && isWanted) await mailLive(tx, deps, domain);
  if (trouble && isWanted) {
    await mailTrouble(tx, deps, domain);
    // That e-mail says what else is wrong, too.
    if (domain.unprovedSince) domain.proofMailedAt = now;
  } else if (proof) await mailMissingProof(tx, deps, domain);
}

/** A domain is live once it also has a certificate, where the platform issues them. */
async function due(tx: EntityManager, { clock, config }: DomainMailDeps, domain: Domain) {
  const mails = dueMails(domain);
  if (!mails.live || !config.acme) return mails;
  const valid = { domainId: domain.id, notAfter: { $gt: clock.now() } };
  return { ...mails, live: (await tx.count(Certificate, valid)) > 0 };
}

async function isBelowLimit(tx: EntityManager, { clock, config }: DomainMailDeps, accountId: string): Promise<boolean> {
  const [row] = await tx.execute<[{ n: number }]>(
    `select count(*)::int as n from mail where account_id = ? and created_at > ? and kind in (${kinds.map(() => '?').join()})`,
    [accountId, new Date(clock.now().getTime() - hourMs), ...kinds],
  );
  return row.n < Math.ceil(accountPerHour * config.rateScale);
}

async function accountOf(tx: EntityManager, { account: { id } }: Domain) {
  const { email } = await tx.findOneOrFail(Account, { id });
  return { to: email, account: id };
}

/** The domain's page is one of the site that it shows. */
const pathOf = ({ id, site }: Domain): OwnerPath =>
  site ? `/account/sites/${site.id}/domains/${id}` : '/account/settings';

async function mailLive(tx: EntityManager, deps: DomainMailDeps, domain: Domain): Promise<void> {
  const address = domain.site ? addressOnDomain(deps.config, domain.name) : null;
  const isAgain = Boolean(domain.troubleMailedAt || domain.proofMailedAt);
  const data = { domain: displayName(domain.name), address, isAgain, ...ownerLinks(deps.config, pathOf(domain)) };
  queueMail(tx, deps, { kind: 'domain-live', ...(await accountOf(tx, domain)), data });
}

async function mailTrouble(tx: EntityManager, deps: DomainMailDeps, domain: Domain): Promise<void> {
  const problems = problemsOf(domain, deps.config.domains);
  const data = { domain: displayName(domain.name), problems, ...ownerLinks(deps.config, pathOf(domain)) };
  queueMail(tx, deps, { kind: 'domain-trouble', ...(await accountOf(tx, domain)), data });
}

async function mailMissingProof(tx: EntityManager, deps: DomainMailDeps, domain: Domain): Promise<void> {
  const record = { recordName: proofName(domain.name), value: domain.proof };
  const data = { domain: displayName(domain.name), ...record, account: ownerPage(deps.config, pathOf(domain)) };
  queueMail(tx, deps, { kind: 'domain-proof-missing', ...(await accountOf(tx, domain)), data });
}
