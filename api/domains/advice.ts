/** What an owner has to set for a domain, what the DNS says of it, and who is to act. Pure. */
import { isIPv6 } from 'node:net';
import type { Config } from '../../config.ts';
import type { Domain } from '../../db/entities/domain.ts';
import { isServed } from '../../db/states.ts';
import { judge, wantedOf } from '../../domains/judging.ts';
import { isWithin } from '../../domains/names.ts';
import { foundIn, isUnknown, proofName, type Sight } from '../../domains/sight.ts';
import { nameServersOf } from '../../domains/zone.ts';

export type Setup = {
  type: 'NS' | 'TXT' | 'CNAME' | 'A' | 'AAAA';
  name: string;
  value: string;
  found: boolean;
  seen: string[];
};
export type WaitingOn = 'owner' | 'platform' | 'operator';
export type Advice = { setup: Setup[]; problems: string[]; waitingOn: WaitingOn | null; nextAction: string | null };

export function setupOf(domain: Domain, config: Pick<Config, 'domains'>): Setup[] {
  const { name, registrable, mode, sight } = domain;
  const wanted = wantedOf(domain, config.domains);
  const seen = (answer: keyof Pick<Sight, 'delegation' | 'proof' | 'cname' | 'a' | 'aaaa'>) =>
    sight ? foundIn(sight[answer]) : [];
  if (mode === 'nameservers') {
    const servers = seen('delegation');
    return wanted.nameServers.map((value) => ({
      type: 'NS',
      name,
      value,
      found: servers.includes(value),
      seen: servers,
    }));
  }
  const texts = seen('proof');
  const proof: Setup = {
    type: 'TXT',
    name: proofName(name),
    value: wanted.proof,
    found: texts.includes(wanted.proof),
    seen: texts,
  };
  const addresses = [...seen('a'), ...seen('aaaa')];
  // Where the DNS follows the name for its visitors, they come here as well.
  const isHere = sight !== null && sight !== undefined && judge(wanted, sight).isHere === true;
  if (name !== registrable) {
    const value = config.domains.cnameTarget;
    return [
      proof,
      { type: 'CNAME', name, value, found: isHere, seen: seen('cname').length > 0 ? seen('cname') : addresses },
    ];
  }
  const entries = wanted.addresses.map((value): Setup => {
    const type = isIPv6(value) ? 'AAAA' : 'A';
    const own = seen(type === 'A' ? 'a' : 'aaaa');
    return { type, name, value, found: own.includes(value), seen: own };
  });
  return [proof, ...entries];
}

/** What is in the way beside what is missing, in words for the owner. */
export function problemsOf(domain: Domain, config: Pick<Config, 'domains'>): string[] {
  const { name, registrable, mode, sight } = domain;
  if (!sight) return [];
  const problems: string[] = [];
  if (sight.registered === 'no') problems.push(`${registrable} is not registered, or its registration has ended.`);
  if (mode === 'nameservers' && foundIn(sight.ds).length > 0) {
    problems.push(
      `DNSSEC is switched on for ${name} at its registrar (a DS record), with keys of another provider: switch it off there.`,
    );
  }
  if (sight.isBogus)
    problems.push(`The DNSSEC signatures of ${name} are broken, so most of the internet cannot find it.`);
  const elsewhere = [...foundIn(sight.a), ...foundIn(sight.aaaa)].filter(
    (address) => !config.domains.edgeAddresses.includes(address),
  );
  if (mode === 'cname' && elsewhere.length > 0) {
    problems.push(
      `${name} leads elsewhere, to ${elsewhere.join(', ')}: remove these addresses, or a proxy that answers with them.`,
    );
  }
  if (mode === 'nameservers') {
    const own = nameServersOf(domain, config.domains.nameServers);
    const others = foundIn(sight.delegation).filter((server) => !own.includes(server));
    if (others.length > 0)
      problems.push(
        `${name} has other name servers, ${others.join(', ')}: only the two of the set-up may stand there.`,
      );
  }
  if (forbidsUs(foundIn(sight.caa), config.domains.caaNames)) {
    problems.push(
      `A CAA record of ${name} forbids its certificate: add a CAA record 0 issue "${config.domains.caaNames[0]}", or remove those there are.`,
    );
  }
  return problems;
}

/** RFC 8659 section 4.2: with any `issue` among them, only who is named may issue. */
function forbidsUs(caa: string[], names: readonly string[]): boolean {
  const issuers = caa.flatMap((text) => {
    const [, tag, ...value] = text.split(' ');
    return tag === 'issue' ? [value.join(' ').split(';')[0]?.trim().toLowerCase() ?? ''] : [];
  });
  return issuers.length > 0 && !issuers.some((issuer) => names.includes(issuer));
}

export type Facts = {
  /** Of its certificate. */
  ssl: { status: string; problem: string | null };
  isTaken: boolean;
};

export function adviceOf(domain: Domain, config: Pick<Config, 'domains'>, facts: Facts): Advice {
  const setup = setupOf(domain, config);
  const problems = problemsOf(domain, config);
  if (domain.status === 'active' && facts.ssl.problem) problems.push(facts.ssl.problem);
  return { setup, problems, ...whoActs(domain, { setup, problems, ...facts }) };
}

type Known = Facts & { setup: Setup[]; problems: string[] };

function whoActs(domain: Domain, { setup, problems, ssl, isTaken }: Known): Pick<Advice, 'waitingOn' | 'nextAction'> {
  const { id, name, status, sight, site } = domain;
  const later = `Then call POST /v1/domains/${id}/check, or read GET /v1/domains/${id} again.`;
  if (status === 'Blocked') {
    return {
      waitingOn: 'operator',
      nextAction: `${name} was stopped by a person of the platform: ${domain.blockReason} Write to them.`,
    };
  }
  if (isTaken) {
    return {
      waitingOn: 'owner',
      nextAction: `Another account holds ${name}: remove it there, or prove it here once it is free. ${later}`,
    };
  }
  if (!sight)
    return {
      waitingOn: 'platform',
      nextAction: `The platform is about to look. Read GET /v1/domains/${id} again in a few seconds.`,
    };
  const isProved = domain.provedAt && status !== 'Deleted';
  if (status !== 'active') {
    const missing = setup.filter(({ found }) => !found).map((one) => said(one, domain));
    // The TXT record is asked for once.
    const asked = isProved
      ? setup.filter(({ type, found }) => type !== 'TXT' && !found).map((one) => said(one, domain))
      : missing;
    if (asked.length + problems.length > 0) {
      return { waitingOn: 'owner', nextAction: `${where(domain)}: ${[...asked, ...problems].join(' ')} ${later}` };
    }
    if (isUnasked(sight))
      return {
        waitingOn: 'platform',
        nextAction: `The DNS could not be asked at the last look. Read GET /v1/domains/${id} again in a minute.`,
      };
    return {
      waitingOn: 'platform',
      nextAction: `Everything was found. Read GET /v1/domains/${id} again in a few seconds.`,
    };
  }
  if (ssl.status !== 'active') {
    if (problems.length > 0) return { waitingOn: 'owner', nextAction: `${problems.join(' ')} ${later}` };
    return {
      waitingOn: 'platform',
      nextAction: `Its certificate is on its way. Read GET /v1/domains/${id} again in about 10 seconds.`,
    };
  }
  if (!site)
    return {
      waitingOn: 'owner',
      nextAction: `Put a site on it with POST /v1/domains/${id}/attach { "site_id": "site_…" }.`,
    };
  return { waitingOn: null, nextAction: null };
}

const isUnasked = ({ delegation, proof, a, aaaa }: Sight) => [delegation, proof, a, aaaa].some(isUnknown);

function where({ mode, name, status, statusSince }: Domain): string {
  const gone =
    isServed({ status }) || status === 'Deleted'
      ? `${name} has led elsewhere since ${statusSince.toISOString()}. `
      : '';
  return `${gone}The owner sets this ${mode === 'nameservers' ? 'at the registrar of the domain' : 'in the DNS of the domain'}`;
}

function said({ type, name, value, seen }: Setup, domain: Domain): string {
  const there = seen.length > 0 && type !== 'TXT' ? ` (there is now ${seen.join(', ')})` : '';
  if (type === 'NS') return `name server ${value}${there}.`;
  const host = isWithin(name, domain.registrable) ? `${type} record ${name}` : `${type} record`;
  return `${host} with the value ${value}${there}.`;
}
