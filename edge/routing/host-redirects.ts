/** Hosts that only lead to another: of a site's domains to its primary one, and over to TLS where a certificate stands. */

import type { Answer } from '#edge/content/response.ts';
import type { OwnCertificate } from '#edge/http/certificates-database.ts';
import type { Clock } from '#runtime/clock.ts';
import type { DomainRow, SiteRow } from './database.ts';
import type { RequestAddress } from './hosts.ts';
import type { SiteDomain } from './site-table.ts';

/** What this edge speaks itself. */
export type TlsStanding = {
  /** Where the world reaches it. */
  port: number;
  /** Our own certificate, if it stands; undefined too where sites' addresses are not over TLS. */
  own(): OwnCertificate | undefined;
};

/** What a host is: one of ours with this name, an owner's domain, or neither. */
export type Place = {
  name: string | undefined;
  site: SiteRow | undefined;
  attached: SiteDomain | undefined;
};

export type Moving = {
  /** Where such a request is to be made instead; undefined where this is its place. */
  of(address: RequestAddress, isSecure: boolean, place: Place): Answer | undefined;
  /** Whether a host has been well for long enough that browsers may be told to come over TLS alone. */
  isStrict(host: string, place: Place): boolean;
};

type Parts = { clock: Clock; baseDomain: string; edgeUrl: string; tls: TlsStanding | undefined };

const healthyForMs = 7 * 24 * 3600_000;

export function openMoving({ clock, baseDomain, edgeUrl, tls }: Parts): Moving {
  const plain = new URL(edgeUrl);
  const toTls = tls && `https://%host${tls.port === 443 ? '' : `:${tls.port}`}`;
  // Where another speaks TLS before this edge, it does so for owners' domains as for our own.
  const toHome = toTls ?? `${plain.protocol}//%host${plain.port === '' ? '' : `:${plain.port}`}`;

  const stands = (until: number | null | undefined) => typeof until === 'number' && until > clock.now().getTime();

  /** A primary domain that would not answer, or a site that is stopped, sends nobody away from where they are. */
  function homeOf(site: SiteRow | undefined): DomainRow | undefined {
    const home = site?.status === 'active' ? site.domains?.find(({ isPrimary }) => isPrimary) : undefined;
    return home?.status === 'active' && (!tls || stands(home.certifiedUntil)) ? home : undefined;
  }

  function certificateOf(
    host: string,
    { name, attached }: Place,
  ): Pick<DomainRow, 'certifiedUntil' | 'healthySince'> | undefined {
    if (attached) return attached.domain;
    return name !== undefined || host === baseDomain ? tls?.own() : undefined;
  }

  return {
    of(address, isSecure, place) {
      const { site } = place;
      // Nearly all of them: a site without domains, where nothing leads over to TLS.
      if (site?.domains === undefined && (isSecure || !tls)) return undefined;
      const home = homeOf(site);
      if (home && home.name !== address.host) return leadTo(toHome, home.name, address.target);
      if (isSecure || !toTls) return undefined;
      return stands(certificateOf(address.host, place)?.certifiedUntil)
        ? leadTo(toTls, address.host, address.target)
        : undefined;
    },
    isStrict(host, place) {
      const { certifiedUntil, healthySince: since } = certificateOf(host, place) ?? {};
      return stands(certifiedUntil) && typeof since === 'number' && since + healthyForMs <= clock.now().getTime();
    },
  };
}

/** Not for ever: the primary domain may be another one tomorrow. */
function leadTo(origin: string, host: string, target: string): Answer {
  const path = target.replaceAll(/[^\x21-\x7e]/g, (char) => encodeURIComponent(char));
  const fields = [
    'location',
    origin.replace('%host', host) + path,
    'cache-control',
    'public, max-age=0, must-revalidate',
  ];
  return { head: { status: 308, fields: [...fields, 'content-length', '0'] }, body: undefined };
}
