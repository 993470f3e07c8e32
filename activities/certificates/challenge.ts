/** What the authority is to find: texts in our zone, or pages at every edge. */
import { putTokens, removeTokens } from '#db/certificates/transitions.ts';
import type { Proof } from '#providers/acme.ts';
import { challengeName } from '#rules/dns/challenges.ts';
import { NotYet, type Work } from './context.ts';
import { untilSeen } from './preflight.ts';

const ttlSeconds = 60;

/** Puts up what stands for these proofs, and sees for itself that it does. Throws NotYet. */
export async function putUp({ deps, wanted, certificate }: Work, proofs: Proof[]): Promise<void> {
  const { em, zones } = deps;
  if (wanted.way.kind === 'http-01') return await putTokens(em(), certificate.id, proofs);
  const { zone } = wanted.way;
  // Texts of a host and of the wildcard below it stand side by side.
  const names = Map.groupBy(proofs, ({ name }) => challengeName(name));
  const sets = Array.from(names, ([name, of]) => ({ ...setAt(name), contents: of.map(({ answer }) => `"${answer}"`) }));
  await zones?.replace(zone, sets);
  for (const [name, of] of names) {
    const texts = of.map(({ answer }) => answer);
    if (!(await untilSeen(deps, name, texts)))
      throw new NotYet('The validation records of this domain are not visible in the DNS yet.', 'platform');
  }
}

/** Leaves nothing behind, whoever put it up. */
async function takeDown({ deps, wanted, certificate }: Work): Promise<void> {
  if (wanted.way.kind === 'http-01') return await removeTokens(deps.em(), certificate.id);
  const names = new Set(wanted.names.map(challengeName));
  await deps.zones?.replace(
    wanted.way.zone,
    Array.from(names, (name) => ({ ...setAt(name), contents: [] })),
  );
}

/** What stays is taken away with the next order; it is no reason to forget how this one ended. */
export async function takeDownCalmly(work: Work): Promise<void> {
  await takeDown(work).catch((err) =>
    work.deps.log.warn({ err, certificateId: work.certificate.id }, 'a challenge could not be taken down'),
  );
}

const setAt = (name: string) => ({ name: `${name}.`, type: 'TXT', ttl: ttlSeconds });
