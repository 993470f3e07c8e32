/** Where a request goes, decided without a database: hosts, targets and redirects between hosts. */
import { expect, test } from 'vitest';
import type { DomainRow, SiteRow } from '#edge/routing/database.ts';
import { createHostRedirects, type HostMatch, type TlsEndpoint } from '#edge/routing/host-redirects.ts';
import { certificateNameOf, readAddress, siteNameOf } from '#edge/routing/hosts.ts';
import { hrefOf, readTarget } from '#edge/routing/paths.ts';
import { dayMs } from '#rules/time.ts';

test.each([
  ['/a?b', 'Shop.Test.:80', { host: 'shop.test', target: '/a?b' }],
  ['http://shop.test/a?b', 'other.test', { host: 'shop.test', target: '/a?b' }],
  ['http://shop.test?b', 'other.test', { host: 'shop.test', target: '/?b' }],
  ['/', '[::1]:80', { host: '', target: '/' }],
  ['a', 'shop.test', undefined],
  ['ftp://shop.test/', 'shop.test', undefined],
  ['/', undefined, undefined],
  ['/', 'shop.test:x', undefined],
])('the target %s with the Host field %s is at %j', (target, field, address) => {
  expect(readAddress(target, field)).toEqual(address);
});

test.each([
  ['a.sites.test', 'a', '*.sites.test'],
  ['b.a.sites.test', 'b.a', 'b.a.sites.test'],
  ['sites.test', undefined, '*.sites.test'],
  ['.sites.test', undefined, '.sites.test'],
  ['aXsites.test', undefined, 'aXsites.test'],
  ['a.sites.best', undefined, 'a.sites.best'],
])('the host %s is the site %s, with the certificate of %s', (host, name, certificate) => {
  expect(siteNameOf(host, 'sites.test')).toBe(name);
  expect(certificateNameOf(host, 'sites.test')).toBe(certificate);
});

test.each([
  ['/', { path: '', query: '' }],
  ['/a/b?c?d', { path: 'a/b', query: '?c?d' }],
  ['/%C3%A9%20?%zz', { path: 'é ', query: '?%zz' }],
  ['/a#b', undefined],
  ['/a?b#c', { path: 'a', query: '?b#c' }],
  ['/%2F', undefined],
  ['/%zz', undefined],
  ['/é', undefined],
  ['a', undefined],
])('the target %s is %j', (raw, target) => {
  expect(readTarget(raw)).toEqual(target);
});

test('the address of a file is escaped but for its slashes', () => {
  expect(hrefOf('a b/é?.html')).toBe('/a%20b/%C3%A9%3F.html');
});

const now = Date.UTC(2026, 0, 1);
const domain = (name: string, more: Partial<DomainRow> = {}): DomainRow => {
  return { name, status: 'active', isPrimary: false, certifiedUntil: now + 1, healthySince: null, ...more };
};
const siteOf = (more: Partial<SiteRow> = {}): SiteRow => {
  return { id: 'site_1', name: 'shop', status: 'active', manifestSha256: null, redirectsSha256: null, ...more };
};
const own = { certifiedUntil: now + 1, healthySince: now } as ReturnType<TlsEndpoint['own']>;
const tlsAt = (port: number): TlsEndpoint => ({ port, own: () => own });

type Given = { host?: string; secure?: boolean; tls?: TlsEndpoint | undefined; edgeUrl?: string; place: HostMatch };
const primary = domain('bakery.test', { isPrimary: true });
const shop = (domains: DomainRow[], more: Partial<SiteRow> = {}): HostMatch => {
  return { name: 'shop', site: siteOf({ domains, ...more }), attached: undefined };
};

test.each<[string, Given, string | undefined]>([
  ['a site without domains, over TLS', { place: { ...shop([]), site: siteOf() } }, undefined],
  ['a site without domains, not over TLS', { secure: false, place: shop([]) }, 'https://shop.sites.test:8443/a?b'],
  [
    'no site at all, not over TLS',
    { secure: false, place: { ...shop([]), name: undefined, site: undefined } },
    undefined,
  ],
  ['a site with a primary domain', { place: shop([domain('other.test'), primary]) }, 'https://bakery.test:8443/a?b'],
  [
    'a former name, over TLS',
    { place: { name: 'old', site: undefined, attached: undefined, movedTo: siteOf() } },
    'https://shop.sites.test:8443/a?b',
  ],
  [
    'a former name, not over TLS',
    { secure: false, place: { name: 'old', site: undefined, attached: undefined, movedTo: siteOf() } },
    'https://shop.sites.test:8443/a?b',
  ],
  [
    'a former name where a proxy terminates TLS',
    {
      tls: undefined,
      edgeUrl: 'https://sites.test',
      place: { name: 'old', site: undefined, attached: undefined, movedTo: siteOf() },
    },
    'https://shop.sites.test/a?b',
  ],
  [
    'a former name of a site with a primary domain',
    { place: { name: 'old', site: undefined, attached: undefined, movedTo: siteOf({ domains: [primary] }) } },
    'https://bakery.test:8443/a?b',
  ],
  ['a site on its primary domain', { host: 'bakery.test', place: shop([primary]) }, undefined],
  ['an archived site', { place: shop([primary], { status: 'archived' }) }, undefined],
  ['a primary domain that moved', { place: shop([{ ...primary, status: 'Moved' }]) }, undefined],
  ['a primary domain without certificate', { place: shop([{ ...primary, certifiedUntil: null }]) }, undefined],
  ['a primary domain whose certificate ends now', { place: shop([{ ...primary, certifiedUntil: now }]) }, undefined],
  ['TLS on its own port', { tls: tlsAt(443), place: shop([primary]) }, 'https://bakery.test/a?b'],
  ['a proxy that terminates TLS', { tls: undefined, place: shop([primary]) }, 'http://bakery.test:4480/a?b'],
  [
    'a proxy on the usual port',
    { tls: undefined, edgeUrl: 'https://sites.test', place: shop([{ ...primary, certifiedUntil: null }]) },
    'https://bakery.test/a?b',
  ],
])('a request for %s redirects to the right address', (_what, given, location) => {
  const { host = 'shop.sites.test', secure = true, edgeUrl = 'http://sites.test:4480', place } = given;
  const tls = 'tls' in given ? given.tls : tlsAt(8443);
  const redirects = createHostRedirects({
    clock: { now: () => new Date(now) },
    baseDomain: 'sites.test',
    edgeUrl,
    tls,
  });
  const answer = redirects.redirectFor({ host, target: '/a?b' }, secure, place);
  expect(answer?.head.fields[1]).toBe(location);
  expect(answer?.head.status).toBe(location === undefined ? undefined : 308);
});

test.each([
  [now + 1, now - 7 * dayMs, true],
  [now + 1, now - 7 * dayMs + 1, false],
  [now, now - 8 * dayMs, false],
  [null, null, false],
])('a certificate until %s that is healthy since %s is strict: %s', (certifiedUntil, healthySince, strict) => {
  const row = domain('bakery.test', { certifiedUntil, healthySince });
  const place = { name: undefined, site: siteOf(), attached: { site: siteOf(), domain: row } };
  const parts = { clock: { now: () => new Date(now) }, baseDomain: 'sites.test', edgeUrl: 'http://sites.test' };
  expect(createHostRedirects({ ...parts, tls: tlsAt(443) }).isStrict('bakery.test', place)).toBe(strict);
});
