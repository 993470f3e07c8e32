/**
 * renewOwn: the certificate of the base domain and of all hosts below it.
 *
 * Key: its schedule, each minute; two never run at once. The row says when the next attempt is due, so most runs do nothing. If it is
 * stuck, the last failure of its activity says why, and the current certificate is served until it expires.
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
