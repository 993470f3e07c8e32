/** One look at everything that the DNS says of a domain: what proves it, where it points, and what would stand in a certificate's way. */
import { type DnsAnswer, proofName, type Sight } from '../../domains/sight.ts';
import type { Dns } from '../dns.ts';

export async function lookAt(dns: Dns, { name, registrable }: { name: string; registrable: string }): Promise<Sight> {
  const [parent, above, proof, cname, a, aaaa, caa] = await Promise.all([
    dns.askParent(name),
    name === registrable ? undefined : dns.askParent(registrable),
    dns.ask(proofName(name), 'TXT'),
    dns.ask(name, 'CNAME'),
    dns.ask(name, 'A'),
    dns.ask(name, 'AAAA'),
    caaOf(dns, name),
  ]);
  const isBogus = 'unknown' in a && 'unknown' in aaaa ? await dns.isBogus(name) : false;
  const registered = (above ?? parent).exists;
  return { registered, delegation: parent.ns, ds: parent.ds, proof, cname, a, aaaa, caa, isBogus };
}

/** RFC 8659 section 3: the records of the closest name that has any. */
async function caaOf(dns: Dns, name: string): Promise<DnsAnswer> {
  for (let rest = name; rest.includes('.'); rest = rest.slice(rest.indexOf('.') + 1)) {
    const answer = await dns.ask(rest, 'CAA');
    if (!('none' in answer)) return answer;
  }
  return { none: true };
}
