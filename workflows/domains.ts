/**
 * onboardDomain: a domain for as long as its account has it: whose it is, where it points, its certificate and the renewals of that.
 *
 * Key: `domain:<domain>`. The row decides: what it is, and when it is to be looked at next. This workflow looks at that time, or when a call
 * has moved the row; it continues as new after some hundred rounds, and ends when the domain was removed. If it is stuck: its activity's last
 * failure says why, and nothing changes meanwhile. If it was terminated: the reconciler starts it again, and it goes on from the row.
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

/** The row was moved by a call or an operator, and is to be read again. Named after what they did, for who reads the history. */
const moves = ['attach', 'detach', 'check', 'block', 'unblock', 'remove'] as const;

const { settleDomain, forgetDomain } = proxyActivities<Activities>(policies.lookup);
const { renewCertificate } = proxyActivities<Activities>(policies.acmeOrder);

const roundsMax = 200;

export async function onboardDomain({ domainId }: { domainId: string }): Promise<{ status: string }> {
  let isMoved = false;
  for (const move of moves) {
    setHandler(defineSignal(move), () => {
      isMoved = true;
    });
  }
  for (let round = 0; round < roundsMax && !workflowInfo().continueAsNewSuggested; round++) {
    isMoved = false;
    const domain = await settleDomain.executeWithOptions({ summary: 'ask the DNS, judge, write down' }, [domainId]);
    if (domain.isRemoved) {
      await forgetDomain.executeWithOptions({ summary: 'take down what it left' }, [domainId]);
      setCurrentDetails('Removed from its account.');
      return { status: 'removed' };
    }
    setCurrentDetails(domain.waitsFor);
    const waits = domain.leftMs === null ? [] : [domain.leftMs];
    if (domain.wantsCertificate) {
      const { status, renewAt } = await renewCertificate.executeWithOptions({ summary: 'order or renew' }, [domainId]);
      setCurrentDetails(`${domain.waitsFor} Certificate: **${status}**, due ${renewAt}.`);
      waits.push(Date.parse(renewAt) - Date.parse(domain.at));
    }
    // The server's clock and ours differ a little: a second later it is due for both.
    if (waits.length > 0) await condition(() => isMoved, Math.max(0, Math.min(...waits)) + 1000);
    else await condition(() => isMoved);
  }
  return await continueAsNew<typeof onboardDomain>({ domainId });
}
