/**
 * Redirects between hosts: from a site's domains to its primary one, from its former names to the present one, and to
 * TLS if there is a valid certificate.
 */

import type { EdgeResponse } from '#edge/content/response.ts';
import type { OwnCertificate } from '#edge/http/certificates-database.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { DomainRow, SiteRow } from './database.ts';
import type { RequestAddress } from './hosts.ts';
import type { SiteDomain } from './site-table.ts';

/** The edge's own TLS. */
export type TlsEndpoint = {
  /** Its public port. */
  port: number;
  /** The platform's certificate, if issued; undefined too if sites' addresses are not over TLS. */
  own(): OwnCertificate | undefined;
};

/** What a host is: a name below the base domain, an owner's domain, or neither. */
export type HostMatch = {
  name: string | undefined;
  site: SiteRow | undefined;
  /** The site that had this name. */
  movedTo?: SiteRow | undefined;
  attached: SiteDomain | undefined;
};

export type HostRedirects = {
  /** The redirect; undefined if the request is at the right host. */
  redirectFor(address: RequestAddress, isSecure: boolean, place: HostMatch): EdgeResponse | undefined;
  /** Whether the host has had a certificate for long enough to send Strict-Transport-Security. */
  isStrict(host: string, place: HostMatch): boolean;
};

type Parts = { clock: Clock; baseDomain: string; edgeUrl: string; tls: TlsEndpoint | undefined };

const healthyForMs = 7 * dayMs;

export function createHostRedirects({ clock, baseDomain, edgeUrl, tls }: Parts): HostRedirects {
  const plain = new URL(edgeUrl);
  const tlsOrigin = tls && `https://%host${tls.port === 443 ? '' : `:${tls.port}`}`;
  // A proxy that terminates TLS does so for owners' domains too.
  const plainOrigin = `${plain.protocol}//%host${plain.port === '' ? '' : `:${plain.port}`}`;
  const primaryOrigin = tlsOrigin ?? plainOrigin;

  const isValid = (until: number | null | undefined) => typeof until === 'number' && until > clock.now().getTime();

  /** The primary domain, if it works and the site is active. */
  function primaryDomainOf(site: SiteRow | undefined): DomainRow | undefined {
    const primary = site?.status === 'active' ? site.domains?.find(({ isPrimary }) => isPrimary) : undefined;
    return primary?.status === 'active' && (!tls || isValid(primary.certifiedUntil)) ? primary : undefined;
  }

  function certificateOf(
    host: string,
    { name, attached }: HostMatch,
  ): Pick<DomainRow, 'certifiedUntil' | 'healthySince'> | undefined {
    if (attached) return attached.domain;
    return name !== undefined || host === baseDomain ? tls?.own() : undefined;
  }

  function redirectToSite(site: SiteRow, isSecure: boolean, target: string): EdgeResponse {
    const primary = primaryDomainOf(site);
    if (primary) return redirect(primaryOrigin, primary.name, target);
    const overTls = isSecure || isValid(tls?.own()?.certifiedUntil) ? tlsOrigin : undefined;
    return redirect(overTls ?? plainOrigin, `${site.name}.${baseDomain}`, target);
  }

  return {
    redirectFor(address, isSecure, place) {
      const { site, movedTo } = place;
      if (movedTo) return redirectToSite(movedTo, isSecure, address.target);
      // Nearly all requests: no domains, no redirect to TLS.
      if (site?.domains === undefined && (isSecure || !tls)) return undefined;
      const primary = primaryDomainOf(site);
      if (primary && primary.name !== address.host) return redirect(primaryOrigin, primary.name, address.target);
      if (isSecure || !tlsOrigin) return undefined;
      return isValid(certificateOf(address.host, place)?.certifiedUntil)
        ? redirect(tlsOrigin, address.host, address.target)
        : undefined;
    },
    isStrict(host, place) {
      const { certifiedUntil, healthySince: since } = certificateOf(host, place) ?? {};
      return isValid(certifiedUntil) && typeof since === 'number' && since + healthyForMs <= clock.now().getTime();
    },
  };
}

/** Revalidated each time: the primary domain and the name may change. */
function redirect(origin: string, host: string, target: string): EdgeResponse {
  const path = target.replaceAll(/[^\x21-\x7e]/g, (char) => encodeURIComponent(char));
  const fields = [
    'location',
    origin.replace('%host', host) + path,
    'cache-control',
    'public, max-age=0, must-revalidate',
  ];
  return { head: { status: 308, fields: [...fields, 'content-length', '0'] }, body: undefined };
}
