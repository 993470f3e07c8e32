/**
 * renewOwn: the certificate of the base domain and of all hosts below it.
 *
 * Key: its schedule, each minute; never two at once. The row says when the next try is due, so most runs do nothing. If it is stuck: its
 * activity's last failure says why, and the certificate that stands is served until its end.
 */
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

const { renewOwnCertificate } = proxyActivities<Activities>(policies.acmeOrder);

export async function renewOwn(): Promise<{ status: string; renewAt: string }> {
  const renewed = await renewOwnCertificate();
  setCurrentDetails(`Certificate: **${renewed.status}**, due ${renewed.renewAt}.`);
  return renewed;
}
