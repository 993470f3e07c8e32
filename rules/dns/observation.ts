/** What the DNS says of a domain at one look. Pure data: it is kept in the domain's row. */

/** The answer to one question. "Could not ask" is an answer of its own, and never that there is nothing. */
export type DnsAnswer = { found: string[] } | { none: true } | { unknown: true };

export type DnsObservation = {
  /** Whether the registered name is there at its parent's name servers. */
  registered: 'yes' | 'no' | 'unknown';
  /** The delegation of the very name, as its parent's name servers refer to it. */
  delegation: DnsAnswer;
  /** DS records at the parent: the owner's registrar says that the zone is signed. */
  ds: DnsAnswer;
  /** The TXT record that proves whose the name is. */
  proof: DnsAnswer;
  cname: DnsAnswer;
  a: DnsAnswer;
  aaaa: DnsAnswer;
  /** The CAA records that hold for the name (RFC 8659): its own, or those of the closest name above it. */
  caa: DnsAnswer;
  /** The resolver refuses what the name servers answer: signatures of the zone (DNSSEC) are broken. */
  isBogus: boolean;
};

export const foundIn = (answer: DnsAnswer): string[] => ('found' in answer ? answer.found : []);
export const isUnknown = (answer: DnsAnswer): boolean => 'unknown' in answer;

/** Where the TXT record stands that proves a name. */
export const proofName = (name: string): string => `_frontage.${name}`;
