/** Observes a domain in the DNS: its proof, where it points, and what could prevent a certificate. */

import type { AskedType, Delegation, Dns } from '#providers/dns.ts';
import { type DnsAnswer, type DnsObservation, proofName } from '#rules/dns/observation.ts';

const timeoutMs = 20_000;
const unknown: DnsAnswer = { unknown: true };
const unknownParent: Delegation = { exists: 'unknown', ns: unknown, ds: unknown };

/** Ends within a minute: external name servers may answer each query on the way as late as they can. */
export async function observeDns(
  dns: Dns,
  { name, registrable }: { name: string; registrable: string },
): Promise<DnsObservation> {
  const ask = (at: string, type: AskedType) => withTimeout(dns.ask(at, type), unknown);
  const askParent = (of: string) => withTimeout(dns.askParent(of), unknownParent);
  const [parent, above, proof, cname, a, aaaa, caa] = await Promise.all([
    askParent(name),
    name === registrable ? undefined : askParent(registrable),
    ask(proofName(name), 'TXT'),
    ask(name, 'CNAME'),
    ask(name, 'A'),
    ask(name, 'AAAA'),
    withTimeout(caaOf(dns, name), unknown),
  ]);
  const isBogus = 'unknown' in a && 'unknown' in aaaa ? await withTimeout(dns.isBogus(name), false) : false;
  const registered = (above ?? parent).exists;
  return { registered, delegation: parent.ns, ds: parent.ds, proof, cname, a, aaaa, caa, isBogus };
}

async function withTimeout<T>(asked: Promise<T>, instead: T): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(resolve, timeoutMs, instead);
  return await Promise.race([asked, late]).finally(() => clearTimeout(timer));
}

/** RFC 8659 section 3: the records of the closest name that has any. */
async function caaOf(dns: Dns, name: string): Promise<DnsAnswer> {
  for (let rest = name; rest.includes('.'); rest = rest.slice(rest.indexOf('.') + 1)) {
    const answer = await dns.ask(rest, 'CAA');
    if (!('none' in answer)) return answer;
  }
  return { none: true };
}
