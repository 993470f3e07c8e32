/** Our own check before an order, because the authority limits failures: would it reach this platform at this name? */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { removeTokens, storeTokens } from '#db/certificates/transitions.ts';
import { challengePath, newProbeToken, probeHttp } from '#providers/acme/http-probe.ts';
import type { RecordSet, Zones } from '#providers/zones.ts';
import { isPreflight, preflightDigits, preflightName } from '#rules/dns/challenges.ts';
import { type CertificateDeps, NotReady, type RenewalContext } from './context.ts';

const addressesMax = 6;
const defaultVisibleWithinMs = 8_000;

/** Throws NotReady if the name does not point to this platform. */
export async function preflight(work: RenewalContext): Promise<void> {
  if (work.request.validation.kind === 'dns-01') await preflightZone(work, work.request.validation.zone);
  else await preflightHost(work);
}

/** Requests a token of our own at every address of the name, all of which must be the edge's. */
async function preflightHost({ deps, request: wanted, certificate }: RenewalContext): Promise<void> {
  const { config, dns, em } = deps;
  const [a, aaaa] = await Promise.all([dns.ask(wanted.name, 'A'), dns.ask(wanted.name, 'AAAA')]);
  if ('unknown' in a || 'unknown' in aaaa)
    throw new NotReady('The DNS of this domain cannot be checked at the moment.', 'platform');
  const addresses = [a, aaaa].flatMap((answer) => ('found' in answer ? answer.found : [])).slice(0, addressesMax);
  if (addresses.length === 0)
    throw new NotReady('This domain has no address record (A or AAAA) in the DNS yet.', 'owner');
  const token = newProbeToken();
  await removeTokens(em(), certificate.id);
  await storeTokens(em(), certificate.id, [{ token, answer: token }]);
  const at = { port: config.publicPorts.http, host: wanted.name, path: challengePath(token) };
  // The domain's DNS names any address that its owner likes: only the edge's are requested.
  const probe = async (address: string) =>
    config.domains.edgeAddresses.includes(address) ? await probeHttp({ ...at, address }) : undefined;
  const seen = await Promise.all(addresses.map(probe));
  await removeTokens(em(), certificate.id);
  const wrong = addresses.filter((_, index) => seen[index] !== token);
  if (wrong.length > 0)
    throw new NotReady(`A different server responds to HTTP requests for this domain at ${wrong[0]}.`, 'owner');
}

/** Publishes a record under a random name, so that no resolver has cached its absence. */
async function preflightZone({ deps }: RenewalContext, zone: string): Promise<void> {
  const { zones } = deps;
  if (!zones) throw new NotReady('The platform’s name servers are unavailable.', 'platform');
  const name = preflightName(zone, randomBytes(preflightDigits).toString('hex').slice(0, preflightDigits));
  const set = { name: `${name}.`, type: 'TXT', ttl: 60 };
  await zones.replace(zone, [...(await staleProbes(zones, zone)), { ...set, contents: ['"here"'] }]);
  const seen = await waitUntilVisible(deps, name, ['here']);
  await zones.replace(zone, [{ ...set, contents: [] }]);
  if (!seen) throw new NotReady('This domain is not delegated to the platform’s name servers yet.', 'platform');
}

/** Removals of the probe records of killed workers. */
async function staleProbes(zones: Zones, zone: string): Promise<RecordSet[]> {
  const there = (await zones.read(zone)) ?? [];
  return there.filter(({ name }) => isPreflight(name.slice(0, -1), zone)).map((set) => ({ ...set, contents: [] }));
}

/** Polls the DNS. Returns whether all of these texts became visible at the name. */
export async function waitUntilVisible(
  { dns, visibleWithinMs: seenWithinMs = defaultVisibleWithinMs }: Pick<CertificateDeps, 'dns' | 'visibleWithinMs'>,
  name: string,
  texts: string[],
): Promise<boolean> {
  const end = performance.now() + seenWithinMs;
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    const answer = await dns.ask(name, 'TXT');
    if ('found' in answer && texts.every((text) => answer.found.includes(text))) return true;
    if (performance.now() > end) return false;
    await pause(waitMs);
  }
}
