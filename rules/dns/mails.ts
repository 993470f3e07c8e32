/** Which e-mails about a domain are due. Pure. */
import type { DomainStatus } from '#rules/states.ts';

/** One check may have met a name server that was just being changed. */
const checksMin = 2;

type Moment = Date | null | undefined;
export type MailState = {
  status: DomainStatus;
  elsewhereSince?: Moment;
  elsewhereChecks: number;
  unprovedSince?: Moment;
  unprovedChecks: number;
  /** When each e-mail was last due. */
  liveMailedAt?: Moment;
  troubleMailedAt?: Moment;
  proofMailedAt?: Moment;
};

/** `trouble`: it is not registered or points elsewhere. `proof`: its TXT record is missing. */
export type DueMails = { live: boolean; trouble: boolean; proof: boolean };

/**
 * Trouble is due once for each time that the DNS becomes wrong, after two checks have seen it, with none between them
 * that found it right. Queries that fail are no such checks. `live` is due when a domain is right for the first time,
 * and when it is right again after one of the others.
 */
export function dueMails(domain: MailState): DueMails {
  const { status, elsewhereSince, elsewhereChecks, unprovedSince, unprovedChecks } = domain;
  const { liveMailedAt, troubleMailedAt, proofMailedAt } = domain;
  if (status === 'pending' || status === 'Blocked') return { live: false, trouble: false, proof: false };
  const isRight = status === 'active' && !elsewhereSince && !unprovedSince;
  const isNews = !liveMailedAt || [troubleMailedAt, proofMailedAt].some((at) => at && at > liveMailedAt);
  return {
    live: isRight && isNews,
    trouble: elsewhereChecks >= checksMin && !isSince(troubleMailedAt, elsewhereSince),
    proof: unprovedChecks >= checksMin && !isSince(proofMailedAt, unprovedSince),
  };
}

const isSince = (mailedAt: Moment, since: Moment) => Boolean(mailedAt && since && mailedAt >= since);
