/** The authority's view: a page at an edge, or a record on our name server. */

import { challengePath, probeHttp } from '#providers/acme/http-probe.ts';
import { challengeName } from '#rules/dns/challenges.ts';
import type { Seen } from './authority.ts';
import type { CertificateFixture } from './fixture.ts';

/** The name of what is wrong, if it is not there. */
export async function lookFor(
  fixture: CertificateFixture,
  { name, kind, token, answer }: Seen,
): Promise<string | undefined> {
  if (kind === 'dns-01') {
    const found = await fixture.deps.dns.ask(challengeName(name), 'TXT');
    return 'found' in found && found.found.includes(answer) ? undefined : 'unauthorized';
  }
  const at = { address: '127.0.0.1', port: fixture.httpPort, host: name, path: challengePath(token) };
  return (await probeHttp(at)) === answer ? undefined : 'unauthorized';
}
