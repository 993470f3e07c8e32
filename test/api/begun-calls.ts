/** Calls that a process has received and not answered yet. */
import { begin } from '#api/idempotency.ts';
import { concurrentReplays } from '#api/replay-waiters.ts';
import type { Caller, Fixture } from './fixture.ts';

export type SiteBody = { name: string; title: string };

/** Takes the caller's call that makes a site, as a process does before it runs it. */
export async function beginCall(
  { deps }: Pick<Fixture, 'deps'>,
  { accountId, token }: Pick<Caller, 'accountId' | 'token'>,
  key: string,
  body: SiteBody,
) {
  const whole = { ...body, template: 'blank' };
  const call = { accountId, method: 'POST', path: '/v1/sites', key, body: whole, bearer: token };
  const alone = { replays: concurrentReplays(), stop: new AbortController().signal };
  return await begin(deps, call, { showsSecret: false, ...alone });
}
