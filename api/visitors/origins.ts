/** The origins from which a site's visitors may call: those of the site itself. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { domainsOfSite } from '#db/domains/transitions.ts';
import type { EntityManager } from '#db/orm.ts';
import { previewLabels } from '#db/previews/transitions.ts';
import { formerNamesOf } from '#db/sites/former-names.ts';
import type { Site } from '#db/sites/site.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { errors } from '#runtime/errors.ts';
import { domainAddress, siteAddress } from '#runtime/site-addresses.ts';

type Source = (
  em: EntityManager,
  config: Config,
  site: Pick<Site, 'id' | 'name'>,
  now: Date,
) => Promise<string[]> | string[];

/** Each source returns addresses that serve the site's pages. A capability that serves them on other hosts adds a line. */
const sources: readonly Source[] = [
  (_em, config, site) => [siteAddress(config, site.name)],
  domainAddresses,
  // A page that was opened before a rename.
  async (em, config, site, now) => (await formerNamesOf(em, now, site.id)).map(({ name }) => siteAddress(config, name)),
  async (em, config, site) => (await previewLabels(em, site.id)).map((label) => siteAddress(config, label)),
];

/** Every origin (RFC 6454) of the site itself. */
export async function originsOf(
  em: EntityManager,
  { config, clock }: { config: Config; clock: Clock },
  site: Pick<Site, 'id' | 'name'>,
): Promise<Set<string>> {
  const now = clock.now();
  const addresses = await Promise.all(sources.map((source) => source(em, config, site, now)));
  return new Set(addresses.flat().map((address) => new URL(address).origin));
}

/** Those with which the call's origin has to be compared: only few calls come from another one than the site's first. */
export async function originsToCompare(
  request: FastifyRequest,
  deps: { config: Config; clock: Clock },
  site: Pick<Site, 'id' | 'name'>,
): Promise<ReadonlySet<string>> {
  const first = new URL(siteAddress(deps.config, site.name)).origin;
  const origin = originOf(request);
  return origin === undefined || origin === first ? new Set([first]) : await originsOf(request.em, deps, site);
}

/** Also plain HTTP until there is a certificate, since the edge serves the domain that way until then. */
async function domainAddresses(
  em: EntityManager,
  config: Config,
  site: Pick<Site, 'id'>,
  now: Date,
): Promise<string[]> {
  const domains = await domainsOfSite(em, site.id);
  return domains.flatMap(({ name, certifiedUntil }) => [
    domainAddress(config, name, true),
    ...(certifiedUntil && certifiedUntil > now ? [] : [domainAddress(config, name, false)]),
  ]);
}

/** The origin of a call: `Origin`, else the origin of `Referer`; undefined if it has neither, as with programs. */
export function originOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  if (headers.origin !== undefined) return headers.origin;
  return headers.referer === undefined ? undefined : (URL.parse(headers.referer)?.origin ?? 'null');
}

/** Throws `invalid_origin` for a call from another site's page. */
export function requireOwnOrigin(request: Pick<FastifyRequest, 'headers'>, own: ReadonlySet<string>): void {
  const origin = originOf(request);
  if (origin === undefined || own.has(origin)) return;
  throw errors.invalid_origin('The request came from a page that is not on this website.', {
    nextAction: 'Send the request from a page of the site or of one of its previews.',
  });
}

const preflightSeconds = '600';

/**
 * Allows scripts of the site's own pages to read the response (the Fetch standard's CORS protocol), and no others. Returns whether this was
 * a preflight request (`OPTIONS`), which needs only an empty response.
 */
export function allowOrigins(request: FastifyRequest, reply: FastifyReply, own: ReadonlySet<string>): boolean {
  reply.header('vary', 'origin, accept');
  const { origin } = request.headers;
  if (origin !== undefined && own.has(origin)) {
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'retry-after, x-request-id',
      'cross-origin-resource-policy': 'cross-origin',
    });
    if (request.method === 'OPTIONS') {
      reply.headers({
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'content-type, idempotency-key',
        'access-control-max-age': preflightSeconds,
      });
    }
  }
  return request.method === 'OPTIONS';
}
