/**
 * onboardDomain: a domain for as long as its account has it: proof of ownership, DNS records, certificate and renewals.
 *
 * Key: `domain:<domain>`. The row holds the state of the domain and when the next check is due. This workflow checks at that time, or when a
 * call has changed the row. It continues as new after some hundred rounds, and ends when the domain has been removed. If it is stuck, the last
 * failure of its activity says why, and nothing changes meanwhile. If it is terminated, the hourly `sweep` restarts it when a check is
 * 15 minutes overdue.
 */
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

/** A call or an operator has changed the row: read it again. The names say what they did, for readers of the history. */
const changes = ['attach', 'detach', 'check', 'block', 'unblock', 'remove'] as const;

const { settleDomain, forgetDomain } = proxyActivities<Activities>(policies.lookup);
const { renewCertificate } = proxyActivities<Activities>(policies.acmeOrder);

const roundsMax = 200;

export async function onboardDomain({ domainId }: { domainId: string }): Promise<{ status: string }> {
  let isChanged = false;
  for (const change of changes) {
    setHandler(defineSignal(change), () => {
      isChanged = true;
    });
  }
  for (let round = 0; round < roundsMax && !workflowInfo().continueAsNewSuggested; round++) {
    isChanged = false;
    const domain = await settleDomain.executeWithOptions({ summary: 'query the DNS, evaluate, save' }, [domainId]);
    if (domain.isRemoved) {
      await forgetDomain.executeWithOptions({ summary: 'remove the domain’s zone and certificate' }, [domainId]);
      setCurrentDetails('Removed from its account.');
      return { status: 'removed' };
    }
    setCurrentDetails(domain.waitsFor);
    const waits = domain.leftMs === null ? [] : [domain.leftMs];
    if (domain.wantsCertificate) {
      const { status, renewAt } = await renewCertificate.executeWithOptions(
        { summary: 'order or renew the certificate' },
        [domainId],
      );
      setCurrentDetails(`${domain.waitsFor} Certificate: **${status}**, due ${renewAt}.`);
      waits.push(Date.parse(renewAt) - Date.parse(domain.at));
    }
    // The server's clock and ours differ a little: a second later the check is due on both.
    if (waits.length > 0) await condition(() => isChanged, Math.max(0, Math.min(...waits)) + 1000);
    else await condition(() => isChanged);
  }
  return await continueAsNew<typeof onboardDomain>({ domainId });
}
