/** ACME challenges: TXT records in our zone, or tokens that every edge serves. */
import { removeTokens, storeTokens } from '#db/certificates/transitions.ts';
import type { Challenge } from '#providers/acme.ts';
import { challengeName } from '#rules/dns/challenges.ts';
import { NotReady, type RenewalContext } from './context.ts';
import { waitUntilVisible } from './preflight.ts';

const ttlSeconds = 60;

/** Publishes these challenges and checks that they are visible. Throws NotReady. */
export async function publishChallenges(
  { deps, request: wanted, certificate }: RenewalContext,
  proofs: Challenge[],
): Promise<void> {
  const { em, zones } = deps;
  if (wanted.validation.kind === 'http-01') return await storeTokens(em(), certificate.id, proofs);
  const { zone } = wanted.validation;
  // A host and its wildcard share one record name.
  const names = Map.groupBy(proofs, ({ name }) => challengeName(name));
  const sets = Array.from(names, ([name, of]) => ({
    ...challengeRecord(name),
    contents: of.map(({ answer }) => `"${answer}"`),
  }));
  await zones?.replace(zone, sets);
  for (const [name, of] of names) {
    const texts = of.map(({ answer }) => answer);
    if (!(await waitUntilVisible(deps, name, texts)))
      throw new NotReady('This domain’s validation records are not visible in the DNS yet.', 'platform');
  }
}

/** Removes all challenges of the certificate, also those of other workers. */
async function removeChallenges({ deps, request: wanted, certificate }: RenewalContext): Promise<void> {
  if (wanted.validation.kind === 'http-01') return await removeTokens(deps.em(), certificate.id);
  const names = new Set(wanted.names.map(challengeName));
  await deps.zones?.replace(
    wanted.validation.zone,
    Array.from(names, (name) => ({ ...challengeRecord(name), contents: [] })),
  );
}

/** A failure is only logged: the next order removes what remains. */
export async function cleanUpChallenges(work: RenewalContext): Promise<void> {
  await removeChallenges(work).catch((err) =>
    work.deps.log.warn({ err, certificateId: work.certificate.id }, 'a challenge could not be removed'),
  );
}

const challengeRecord = (name: string) => ({ name: `${name}.`, type: 'TXT', ttl: ttlSeconds });
