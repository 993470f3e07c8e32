/** What a restore brings back, and what of it must not continue. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { queueMail } from '#db/mail/queue.ts';
import { newId } from '#runtime/ids.ts';
import { createSite } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';
import { createFixture, type Fixture, keepOpened } from './fixture.ts';

vi.setConfig({ testTimeout: 180_000 });

let fixture: Fixture;
const { elsewhere, newFolder, closeAll } = keepOpened();
let backups: Awaited<ReturnType<typeof newFolder>>;
beforeAll(async () => {
  [fixture, backups] = await Promise.all([createFixture(), newFolder()]);
  const [owner, guest] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(owner);
  const ask = people(fixture);
  const { body: invitation } = await ask.invite(owner, site.id, await ask.emailOf(guest));
  await guest.call('POST', `/v1/invitations/${invitation.id}/accept`);
  await signIn(owner.accountId);
  await letIn(owner.accountId, site.id);
  const em = fixture.deps.em();
  const data = { reason: 'A reason' };
  for (const hours of [0, 2]) {
    const clock = { now: () => new Date(fixture.clock.now().getTime() - hours * 3600_000) };
    queueMail(em, { clock, config: fixture.config }, { kind: 'account-blocked', to: 'a@example.com', data });
    await em.flush();
  }
  await backups.create(fixture);
});
afterAll(async () => {
  await closeAll();
  await fixture?.close();
});

async function signIn(accountId: string): Promise<void> {
  const em = fixture.deps.em();
  const [now, soon] = [fixture.clock.now(), new Date(fixture.clock.now().getTime() + 600_000)];
  await em.execute(
    `insert into browser_session (id, account_id, hash, created_at, expires_at) values (?, ?, '\\x01', ?, ?)`,
    [newId('sess'), accountId, now, soon],
  );
  await em.execute(
    `insert into signin_link (id, email, hash, browser_hash, code_hash, created_at, expires_at)
     values ('link_open', 'a@example.com', '\\x01', '\\x02', '\\x03', ?, ?)`,
    [now, soon],
  );
  await em.execute(
    `insert into oauth_code (hash, account_id, client_hash, client_name, redirect_uri, challenge, created_at, expires_at)
     values ('\\x01', ?, '\\x02', 'Agent', 'https://agent.example/', 'challenge', ?, ?)`,
    [accountId, now, soon],
  );
}

/** Ways in that live for minutes or a day, and two that owners hand out for longer. */
async function letIn(accountId: string, siteId: string): Promise<void> {
  const em = fixture.deps.em();
  const at = [fixture.clock.now(), new Date(fixture.clock.now().getTime() + 3600_000)];
  await em.execute(
    `insert into email_change (id, account_id, email, hash, status, created_at, expires_at)
     values ('addr_open', ?, 'new@example.com', '\\x01', 'pending', ?, ?)`,
    [accountId, ...at],
  );
  await em.execute(
    `insert into upload_link (id, site_id, account_id, hash, max_files, max_file_bytes, created_at, expires_at)
     values ('upl_open', ?, ?, '\\x01', 1, 1, ?, ?)`,
    [siteId, accountId, ...at],
  );
  await em.execute(
    `insert into payout_account (id, account_id, rail, name, status, created_at) values ('pout_open', ?, 'connect', 'Shop', 'pending', ?)`,
    [accountId, at[0]],
  );
  await em.execute(
    `insert into payout_onboarding (payout_account_id, hash, created_at, expires_at) values ('pout_open', '\\x01', ?, ?)`,
    at,
  );
  await em.execute(
    `insert into review_link (id, site_id, account_id, hash, created_at, expires_at) values ('rev_open', ?, ?, '\\x01', ?, ?)`,
    [siteId, accountId, ...at],
  );
  await em.execute(
    `insert into calendar_feed (id, site_id, account_id, hash, created_at) values ('feed_open', ?, ?, '\\x01', ?)`,
    [siteId, accountId, at[0]],
  );
  await em.execute(
    `insert into git_credential (id, site_id, account_id, repository, access, username, hash, created_at, expires_at)
     values ('cred_open', ?, ?, 'source', 'write', 'git-of-past', '\\x01', ?, ?)`,
    [siteId, accountId, ...at],
  );
}

async function restored(isDryRun: boolean) {
  const other = await elsewhere();
  const told = await backups.restore(other, undefined, { isDryRun });
  const count = async (question: string) => (await other.deps.em().execute(question)).length;
  const mails = await other.deps.em().execute('select status, failure from mail order by created_at');
  return { told, count, mails };
}

test('sessions, open links, address changes and codes are not restored; remaining access is counted', async () => {
  const { told, count } = await restored(false);
  for (const table of ['browser_session', 'signin_link', 'oauth_code', 'payout_onboarding'])
    expect(await count(`select 1 from ${table}`), table).toBe(0);
  expect(await count(`select 1 from email_change where status = 'pending'`)).toBe(0);
  expect(await count('select 1 from upload_link where ended_at is null')).toBe(0);
  // No build uses a cache of the old installation.
  expect(await count('select 1 from site where cache_epoch < 1000000')).toBe(0);
  expect(told.past).toMatchObject({
    tokens: 2,
    clients: 0,
    collaborators: 1,
    gitPasswords: 1,
    reviewLinks: 1,
    calendarFeeds: 1,
  });
});

test('a restore sends mails that waited an hour or less, and no older ones', async () => {
  const { told, mails } = await restored(false);
  expect(mails[0]).toEqual({ status: 'failed', failure: 'restored' });
  expect(mails.at(-1)).toEqual({ status: 'queued', failure: null });
  expect(told.past.mailsEnded).toBe(1);
  expect(told.restarted.notify).toBe(mails.length - 1);
});

test('a dry run starts nothing and sends nothing', async () => {
  const before = await fixture.deps.em().execute('select 1 from outbox where sent_at is null');
  expect(before.length).toBeGreaterThan(0);
  const { told, count, mails } = await restored(true);
  expect(told.restarted).toEqual({});
  expect(await count('select 1 from outbox where sent_at is null')).toBe(0);
  expect(new Set(mails.map(({ status }) => status))).toEqual(new Set(['failed']));
});
