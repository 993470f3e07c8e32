/** The certificate activities: for owners' domains (`onboardDomain`) and for the platform's own names. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { LeaseLost } from '#db/certificates/transitions.ts';
import { Domain } from '#db/domains/domain.ts';
import { mailCertifiedDomain } from '#db/domains/transitions.ts';
import type { Authority } from '#providers/acme.ts';
import { hourMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import type { CertificateRequest } from './certificates/context.ts';
import { Busy, type Renewed, renewIfDue } from './certificates/renew.ts';

export function certificateActivities(deps: Deps) {
  const { clock, config, em, zones } = deps;
  let opened: Promise<Authority> | undefined;
  // Only processes that order certificates load the library.
  const authorityOf = (acme: NonNullable<typeof config.acme>) => {
    opened ??= import('#providers/acme.ts').then(({ openAuthority }) => openAuthority(acme, clock));
    // The trusted file may not exist yet: retry.
    opened.catch(() => (opened = undefined));
    return opened;
  };
  const later = (status: string): Renewed => ({
    status,
    renewAt: new Date(clock.now().getTime() + hourMs).toISOString(),
  });

  async function renew(wanted: CertificateRequest): Promise<Renewed> {
    if (!config.acme) return later('pending');
    const context = Context.current();
    try {
      return await renewIfDue({ ...deps, authority: await authorityOf(config.acme) }, wanted, () =>
        context.heartbeat(),
      );
    } catch (error) {
      if (error instanceof Busy || error instanceof LeaseLost)
        throw ApplicationFailure.retryable(error.message, 'busy');
      throw error;
    }
  }

  return {
    /** Issues or renews the certificate of an `active` domain if that is due. Returns when to call again. */
    async renewCertificate(domainId: string): Promise<Renewed> {
      const domain = await em().findOne(Domain, { id: domainId }, { populate: ['account'] });
      if (!domain || domain.removedAt || domain.status !== 'active' || domain.account.blockedAt)
        return later('pending');
      const { name, mode } = domain;
      const way = mode === 'nameservers' ? { kind: 'dns-01' as const, zone: name } : { kind: 'http-01' as const };
      const renewed = await renew({ domainId, name, names: [name], validation: way });
      await mailCertifiedDomain(em(), deps, domainId);
      return renewed;
    },

    /** Issues or renews the wildcard certificate of the base domain, if this platform serves its zone. */
    async renewOwnCertificate(): Promise<Renewed> {
      const { baseDomain } = config;
      if (!zones || (await zones.read(baseDomain)) === undefined) return later('pending');
      const names = [baseDomain, `*.${baseDomain}`];
      return await renew({
        domainId: null,
        name: `*.${baseDomain}`,
        names,
        validation: { kind: 'dns-01', zone: baseDomain },
      });
    },
  };
}
