/** One observation of the DNS. Plain data: it is stored in the domain's row. */

/** The answer to one query. A failed query is `unknown`, never `none`. */
export type DnsAnswer = { found: string[] } | { none: true } | { unknown: true };

export type DnsObservation = {
  /** Whether the registrable name exists at its parent's name servers. */
  registered: 'yes' | 'no' | 'unknown';
  /** The delegation of the name, from its parent's name servers. */
  delegation: DnsAnswer;
  /** DS records at the parent: the registrar has enabled DNSSEC. */
  ds: DnsAnswer;
  /** The TXT record that proves ownership. */
  proof: DnsAnswer;
  cname: DnsAnswer;
  a: DnsAnswer;
  aaaa: DnsAnswer;
  /** The CAA records in effect (RFC 8659): of the name, or of the closest name above it with any. */
  caa: DnsAnswer;
  /** The resolver rejects the answers: the zone's DNSSEC signatures are invalid. */
  isBogus: boolean;
};

export const foundIn = (answer: DnsAnswer): string[] => ('found' in answer ? answer.found : []);
export const isUnknown = (answer: DnsAnswer): boolean => 'unknown' in answer;

/** The name of the TXT record that proves ownership. */
export const proofName = (name: string): string => `_frontage.${name}`;
