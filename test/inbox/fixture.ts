/** The platform with people and publishes that fail, and calls that wait. */

import { Deployment } from '#db/deployments/deployment.ts';
import { claimBuild } from '#db/deployments/queue.ts';
import { goLive, settle } from '#db/deployments/transitions.ts';
import { newId } from '#runtime/ids.ts';
import { type Answer, type Caller, callWith } from '#test/api/fixture.ts';
import { createUnsentFixture, people } from '#test/invitations/fixture.ts';
import type { PeopleFixture } from '#test/people/fixture.ts';
import { acceptedDraft, acceptedPublish } from '#test/publishing/acceptance.ts';
import { until } from '#test/stack/until.ts';

/** SQL: when row `n` appeared, before the moment of a parameter. A column has microseconds. */
export const momentOfRow = `date_trunc('milliseconds', ?::timestamptz) - interval '1 day' + n * interval '1 second' + interval '999 microseconds'`;

export async function createInboxFixture() {
  const fixture = await createUnsentFixture();
  const { deps, clock } = fixture;

  /** A publish that is accepted. */
  async function publish(owner: Caller, siteId: string): Promise<string> {
    return (await acceptedPublish(deps, { siteId, createdBy: owner.accountId })).id;
  }

  /** A draft in the slot, to be built. */
  async function preview(owner: Caller, siteId: string, slot: number): Promise<string> {
    return (await acceptedDraft(deps, { siteId, slot, createdBy: owner.accountId })).id;
  }

  async function fail(id: string): Promise<void> {
    const error = {
      code: 'build_failed',
      message: 'The page src/pages/index.astro has a fault.',
      retryable: false,
    } as const;
    await settle(deps.em(), deps, id, { status: 'failed', error });
  }

  async function failedBuild(owner: Caller, siteId: string): Promise<string> {
    const id = await publish(owner, siteId);
    await fail(id);
    return id;
  }

  async function becomeLive(id: string, manifestSha256 = '0'.repeat(64)): Promise<void> {
    await claimBuild(deps.em(), clock, id);
    await deps.em().nativeUpdate(Deployment, { id }, { manifestSha256, status: 'storing' });
    await goLive(deps.em(), clock, id);
  }

  /** A form with so many submissions, of which the first is the oldest. Returns the ids of these. */
  async function formWith(siteId: string, count: number): Promise<string[]> {
    const form = newId('form');
    const now = clock.now();
    await deps
      .em()
      .execute(
        `insert into form (id, site_id, name, status, fields, created_at) values (?, ?, 'F', 'enabled', '[]', ?)`,
        [form, siteId, now],
      );
    const rows = await deps.em().execute<{ id: string }[]>(
      `insert into submission (id, form_id, "values", created_at, expires_at)
       select 'sub_' || lpad(n::text, 26, '0'), ?, '[["a", "b"]]', ${momentOfRow}, ?::timestamptz + interval '1 day'
       from generate_series(1, ${count}) as n returning id`,
      [form, now, now],
    );
    return rows.map(({ id }) => id).sort();
  }

  return { ...fixture, ask: people(fixture), formWith, publish, preview, fail, failedBuild, becomeLive };
}

/** Ids of what an answer of the inbox lists. */
export const idsOf = ({ body }: Answer): string[] => body.items.map(({ id }: { id: string }) => id);

/** Marks everything that the account's inbox lists as done. */
export async function clearInbox(caller: Caller): Promise<void> {
  const items = (await caller.call('GET', '/v1/inbox')).body.items.map(({ kind, id }: Named) => ({ kind, id }));
  if (items.length > 0) await caller.call('POST', '/v1/inbox/done', { body: { items } });
}
type Named = { kind: string; id: string };

/** A call for the inbox that has come in and waits. */
export async function startWaiting(
  fixture: Pick<PeopleFixture, 'deps' | 'url'>,
  caller: Caller,
  { base = fixture.url, query = 'wait=30' } = {},
) {
  const arrivals = () => arrivalsOf(fixture, caller.accountId);
  const before = await arrivals();
  const heard = callWith(base, caller.token)('GET', `/v1/inbox?${query}`).then((answer) => ({
    answer,
    at: performance.now(),
  }));
  await until(arrivals, (n) => n > before);
  return { heard };
}

/** How long after the act a waiting call of the account returns the item of this kind, in milliseconds. */
export async function hear(
  fixture: Pick<PeopleFixture, 'deps' | 'url'>,
  caller: Caller,
  kind: string,
  act: () => Promise<unknown>,
): Promise<number> {
  const { heard } = await startWaiting(fixture, caller);
  await act();
  const actedAt = performance.now();
  const { answer, at } = await heard;
  const kinds = answer.body.items.map((item: { kind: string }) => item.kind);
  if (kinds.join() !== kind) throw new Error(`a call that waited for ${kind} returned “${kinds}”`);
  return at - actedAt;
}

/** How often calls of the account have come in: each is counted before it is answered. */
export async function arrivalsOf({ deps }: Pick<PeopleFixture, 'deps'>, accountId: string): Promise<number> {
  const rows = await deps
    .em()
    .execute(
      `select coalesce(sum(hits), 0) as n from rate_limit join token on key like '%token:' || token.id where account_id = ?`,
      [accountId],
    );
  return Number(rows[0]?.n);
}
