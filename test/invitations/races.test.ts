/** Calls at the same moment. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { lockAccount } from '#db/accounts/lock.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { type Answer, errorOf, limitsIn } from '#test/api/fixture.ts';
import { sized } from '#test/campaigns/size.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { useUnsent } from './fixture.ts';

const invitations = sized({ one: 20, short: 100, long: 1000 });
const rounds = sized({ one: 20, short: 50, long: 500 });

const { fixture, ask, owner } = await useUnsent();
// Two API processes on one database.
await fixture.start();

const outcome = (answer: Answer) => (answer.status === 200 ? answer.body.status : errorOf(answer).code);
function tally(words: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

test('of many concurrent invitations of one address one is open', async () => {
  const site = await ask.newSite(owner);
  const answers = await Promise.all(
    Array.from({ length: invitations }, () => ask.invite(owner, site.id, 'one@example.com')),
  );
  expect(tally(answers.map(outcome))).toEqual({ open: 1, already_invited: invitations - 1 });
  const { body } = await owner.call('GET', `/v1/sites/${site.id}/invitations`);
  expect(body.items).toHaveLength(1);
  const mails = await fixture.deps.em().execute(`select id from mail where kind = 'invitation'`);
  expect(mails).toHaveLength(1);
}, 180_000);

test('the cap of a site holds under concurrent invitations', async () => {
  const site = await ask.newSite(owner);
  const limit = limitsIn(fixture.config).collaborators_per_site;
  const answers = await Promise.all(
    Array.from({ length: limit + 10 }, (_, at) => ask.invite(owner, site.id, `guest-${at}@example.com`)),
  );
  expect(tally(answers.map(outcome))).toEqual({ open: limit, plan_limit: 10 });
});

test('an acceptance or a concurrent withdrawal wins, and all sides agree', async () => {
  const guest = await fixture.newCaller();
  const email = await ask.emailOf(guest);
  const site = await ask.newSite(owner);
  const won: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const { body: invited } = await ask.invite(owner, site.id, email);
    const withdraw = async () => {
      // An acceptance reads more before it locks: from round to round the withdrawal comes a little later.
      await pause(round % 10);
      return await ask.withdraw(owner, site.id, invited.id);
    };
    const [accepted, withdrawn] = (await Promise.all([ask.accept(guest, invited.id), withdraw()])).map(outcome);
    const inside = (await guest.call('GET', `/v1/sites/${site.id}`)).status === 200;
    expect([accepted, withdrawn, inside]).toEqual(
      inside ? ['accepted', 'invitation_accepted', true] : ['not_found', 'withdrawn', false],
    );
    won.push(inside ? 'acceptance' : 'withdrawal');
    if (inside) await ask.remove(owner, site.id, guest.accountId);
  }
  // Otherwise there was no race.
  expect(Object.keys(tally(won)).sort()).toEqual(['acceptance', 'withdrawal']);
  console.info(`of ${rounds} races: ${JSON.stringify(tally(won))}`);
}, 180_000);

test('owners who accept each other’s invitations concurrently do not deadlock', async () => {
  const pairs = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const [one, two] = [await fixture.newCaller(), await fixture.newCaller()];
      const [first, second] = [await ask.newSite(one), await ask.newSite(two)];
      const { body: toTwo } = await ask.invite(one, first.id, await ask.emailOf(two));
      const { body: toOne } = await ask.invite(two, second.id, await ask.emailOf(one));
      return [() => ask.accept(two, toTwo.id), () => ask.accept(one, toOne.id)];
    }),
  );
  const answers = [];
  for (const pair of pairs) answers.push(...(await Promise.all(pair.map((accept) => accept()))));
  expect(tally(answers.map(outcome))).toEqual({ accepted: 8 });
});

test('invitations wait for a publish of the site, which never waits for them', async () => {
  const site = await ask.newSite(owner);
  const guest = await fixture.newCaller();
  const email = await ask.emailOf(guest);
  const { body: invited } = await ask.invite(owner, site.id, email);
  for (const call of [() => ask.invite(owner, site.id, 'new@example.com'), () => ask.accept(guest, invited.id)]) {
    const answer = await fixture.deps.em().transactional(async (tx) => {
      await lockSite(tx, site.id);
      const answer = call();
      await untilBlocked(fixture.deps);
      await lockAccount(tx, owner.accountId);
      return { answer };
    });
    expect((await answer.answer).status).toBe(200);
  }
});

test('a transaction that only references an account is not blocked by its counters', async () => {
  const [one, two] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await ask.newSite(two);
  await fixture.deps.em().transactional(async (tx) => {
    await lockAccount(tx, one.accountId);
    await fixture.deps.em().transactional(async (beside) => {
      await beside.execute(`set local lock_timeout = '2s'`);
      await beside.execute('insert into collaborator (site_id, account_id, since) values (?, ?, ?)', [
        site.id,
        one.accountId,
        fixture.clock.now(),
      ]);
    });
  });
  expect((await one.call('GET', `/v1/sites/${site.id}`)).body.role).toBe('collaborator');
});
