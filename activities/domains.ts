/** The activities of `onboardDomain`. */
import { clearCertificate } from '#db/certificates/transitions.ts';
import { Domain } from '#db/domains/domain.ts';
import { recordObservation } from '#db/domains/transitions.ts';
import { syncZone } from '#db/domains/zones.ts';
import { observeDns } from '#providers/dns/observation.ts';
import { expectedRecords } from '#rules/dns/evaluation.ts';
import type { DomainStatus } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { createShares } from '#runtime/shares.ts';

/** The state for the workflow, as of `at`. `leftMs` is null if no check is due. */
export type DomainState =
  | { isRemoved: true }
  | { isRemoved: false; waitsFor: string; leftMs: number | null; wantsCertificate: boolean; at: string };

/** Shown to an operator. */
const waitReasons: Record<DomainStatus, string> = {
  pending: '– waiting for the owner to set the DNS records.',
  active: '– points here; checked every hour.',
  Moved: '– no longer points here; has 7 days to point here again.',
  Deleted: '– no longer points here; waiting for new proof of ownership.',
  Blocked: '– waiting for an operator to run `domain unblock`.',
};

/** Slow name servers hold a check for a minute; other activities share the process. Of 100 activities: */
const checksAtOnce = { each: 4, all: 50 };

/** The workflow tries again a second later. */
const busy = {
  isRemoved: false,
  waitsFor: '– waiting for other checks, of its account or of others, to end.',
  leftMs: 0,
  wantsCertificate: false,
} as const;

/** Domains of a blocked account are not checked and get no certificates. Unblocking it signals their workflows. */
const stopped = {
  isRemoved: false,
  waitsFor: '– its account is blocked; waiting for an operator to run `account unblock`.',
  leftMs: null,
  wantsCertificate: false,
} as const;

export function domainActivities(deps: Pick<Deps, 'config' | 'clock' | 'em' | 'dns' | 'zones'>) {
  const { clock, config } = deps;
  const checks = createShares(checksAtOnce);

  async function check(domain: Domain): Promise<Domain | undefined> {
    const observation = await observeDns(deps.dns, domain);
    return await recordObservation(deps.em(), deps, domain.id, {
      sight: observation,
      wanted: expectedRecords(domain, config.domains),
    });
  }

  return {
    async settleDomain(id: string): Promise<DomainState> {
      const found = await deps.em().findOneOrFail(Domain, { id }, { populate: ['account'] });
      if (!found.removedAt && found.account.blockedAt) return { ...stopped, at: clock.now().toISOString() };
      if (found.removedAt) return { isRemoved: true };
      const isDue = found.nextCheckAt && found.nextCheckAt <= clock.now();
      const leave = isDue ? checks.take(found.account.id) : undefined;
      if (isDue && !leave) return { ...busy, at: clock.now().toISOString() };
      const domain = leave ? await check(found).finally(leave) : found;
      if (!domain) return { isRemoved: true };
      if (domain.mode === 'nameservers') await syncZone(deps.em(), deps, domain.name);
      const now = clock.now();
      return {
        isRemoved: false,
        waitsFor: `**${domain.status}** ${waitReasons[domain.status]}`,
        leftMs: domain.nextCheckAt ? domain.nextCheckAt.getTime() - now.getTime() : null,
        wantsCertificate: domain.status === 'active',
        at: now.toISOString(),
      };
    },

    /** Removes the certificate of a removed domain, and its zone unless another account has added the same name. */
    async forgetDomain(id: string): Promise<void> {
      const { name, mode, removedAt } = await deps.em().findOneOrFail(Domain, { id });
      if (!removedAt) return;
      if (mode === 'nameservers') await syncZone(deps.em(), deps, name);
      await clearCertificate(deps.em(), id);
    },
  };
}
