/** E-mails to owners about comments that nobody has answered for an hour. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queueWaitingComments } from '#db/comments/waiting-mails.ts';
import { minuteMs } from '#rules/time.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { callWith } from '#test/api/fixture.ts';
import { signedIn } from '#test/console/session.ts';
import { people } from '#test/invitations/fixture.ts';
import { createMailFixture, type MailFixture } from '#test/mail/fixture.ts';
import { mailOwners, queuedMails, stalledAtQueue } from '#test/mail/owner-mails.ts';
import { openProcesses } from '#test/stack/processes.ts';
import { until } from '#test/stack/until.ts';
import { showDraft } from './drafts.ts';
import { commentsOf } from './fixture.ts';
import { page, secretOf } from './link-fixture.ts';

const kind = 'comments-waiting';
let fixture: MailFixture;
beforeAll(async () => {
  fixture = await createMailFixture();
}, 60_000);
afterAll(() => fixture?.close());

/** An owner with a site, and the comments of a person who has a review link to it. */
async function reviewed() {
  const ask = people(fixture);
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const calls = commentsOf(owner, site.id);
  const email = await ask.emailOf(owner);
  const reviewer = async (link: object = {}) => {
    const headers = { 'x-review': secretOf((await calls.review(link)).body) };
    return async (body: string, path = '/'): Promise<string> => {
      const sent = { body: { page: path, body, position: {} }, headers };
      const { body: made, text } = await callWith(fixture.url)('POST', '/review/threads', sent);
      if (!made.thread) throw new Error(text);
      return made.thread.id;
    };
  };
  return {
    ...calls,
    owner,
    site,
    email,
    reviewer,
    comment: await reviewer(),
    hostname: siteHostname(fixture.config, site.name),
    queued: () => queuedMails(fixture, kind, { siteId: site.id }),
    received: (count: number) =>
      until(
        () => fixture.mailsTo(email),
        (mails) => mails.length === count,
      ),
  };
}

const round = () => queueWaitingComments(fixture.deps);
const skip = (minutes: number) => fixture.skip(minutes * minuteMs);

test('comments of one site that waited for an hour are in one e-mail', async () => {
  const { comment, received, hostname, queued } = await reviewed();
  await comment('Could the  photo\nbe larger?');
  await comment('x'.repeat(300), '/about');
  skip(59);
  await mailOwners(fixture);
  expect(await queued()).toBe(0);
  skip(2);
  await mailOwners(fixture);
  const [mail] = await received(1);
  expect(mail?.subject).toBe(`${hostname}: 2 comments are waiting for an answer`);
  expect(mail?.text).toContain('On the home page:\n\n> Could the photo be larger?\n');
  expect(mail?.text).toMatch(/On the page \/about:\n\n> x{159}…\n/);
  expect(mail?.text).toContain(`Answer the comments:\n${fixture.config.baseUrl}/account/sites/`);
  expect(mail?.text).toContain(`${fixture.config.baseUrl}/account/mails`);
  skip(600);
  await mailOwners(fixture);
  expect(await queued()).toBe(1);
  expect(JSON.stringify(fixture.logged)).not.toContain('photo');
});

test('a site has one e-mail an hour, and each comment is in one', async () => {
  const { comment, received, queued } = await reviewed();
  await comment('The first');
  skip(30);
  await comment('The second');
  skip(31);
  await round();
  // Mails that are sent at once may arrive in either order.
  const [first] = await received(1);
  skip(31);
  await round();
  expect(await queued()).toBe(1);
  skip(30);
  await round();
  const [later] = await received(2);
  expect(first?.text).toContain('> The first');
  expect(first?.text).not.toContain('The second');
  expect(later?.text).toContain('> The second');
  expect(later?.text).not.toContain('The first');
});

test('a thread has another e-mail once its reviewer writes again', async () => {
  const { owner, site, received, reply, queued, review } = await reviewed();
  const secret = secretOf((await review({})).body);
  const send = (path: string, body: object) =>
    callWith(fixture.url)('POST', path, { body, headers: { 'x-review': secret } });
  const { body: made } = await send('/review/threads', { page: '/', body: 'The first', position: {} });
  const again = async (body: string) => {
    const answer = await send(`/review/threads/${made.thread.id}`, { message: body });
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
  };
  skip(61);
  await round();
  await received(1);
  await again('The second');
  await again('The third');
  skip(61);
  await round();
  const [mail] = await received(2);
  expect(mail?.text).toContain('> The second');
  expect(mail?.text).not.toContain('The first');
  await again('The fourth');
  await reply(made.thread.id, 'Done.');
  skip(122);
  await round();
  expect(await queued()).toBe(2);
  await again('The fifth');
  const browser = await signedIn(fixture, owner.accountId);
  const page = await browser.open(`/account/sites/${site.id}/comments`);
  expect((await browser.press(page, 'Send', { message: 'I see.' })).text).toContain(
    'Your reply is added to the comment.',
  );
  skip(122);
  await round();
  expect(await queued()).toBe(2);
});

test('a site whose e-mail cannot be queued keeps no other from its own', async () => {
  const sites = [await reviewed(), await reviewed(), await reviewed()] as const;
  for (const { comment } of sites) await comment('Larger');
  skip(61);
  const [refused, ...others] = sites;
  const em = fixture.deps.em();
  await em.execute(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before insert on mail for each row when (new.site_id = '${refused.site.id}') execute function refuse()`);
  try {
    await expect(round()).rejects.toThrow('refused');
    expect(await Promise.all(others.map(({ queued }) => queued()))).toEqual([1, 1]);
  } finally {
    await em.execute('drop trigger refuse on mail; drop function refuse');
  }
  await round();
  expect(await Promise.all(sites.map(({ queued }) => queued()))).toEqual([1, 1, 1]);
});

test('a comment on a draft names its preview', async () => {
  const { owner, site, reviewer, received } = await reviewed();
  await showDraft(fixture, { siteId: site.id, accountId: owner.accountId, slot: 2 }, page);
  await (await reviewer({ slot: 2 }))('Much better', '/menu');
  skip(61);
  await round();
  expect((await received(1))[0]?.text).toContain('On the page /menu of preview 2:\n\n> Much better');
});

test('what an agent wrote, answered or resolved does not wait', async () => {
  const { comment, open, reply, resolve, queued } = await reviewed();
  await reply(await comment('Answered'), 'Done.');
  await resolve(await comment('Resolved'));
  await open('By the agent itself');
  skip(61);
  await round();
  expect(await queued()).toBe(0);
});

test('an archived site gets none, nor an owner who switched it off', async () => {
  const [archived, unwilling] = [await reviewed(), await reviewed()];
  for (const { comment } of [archived, unwilling]) await comment('Larger');
  const em = fixture.deps.em();
  const choose = (choices: string) =>
    em.execute('update account set mail_choices = ?::jsonb where id = ?', [choices, unwilling.owner.accountId]);
  await archived.owner.call('POST', `/v1/sites/${archived.site.id}/archive`);
  await choose('{"comments": false}');
  skip(61);
  await round();
  // What was there before is not mailed later.
  await choose('{"comments": true}');
  await archived.owner.call('POST', `/v1/sites/${archived.site.id}/unarchive`);
  // Nor is one after a week.
  await em.execute('update comment_thread set changed_at = ? where site_id = ?', [new Date(0), archived.site.id]);
  skip(61);
  await round();
  expect([await archived.queued(), await unwilling.queued()]).toEqual([0, 0]);
});

test('a long list is cut, and the rest counted', async () => {
  const { comment, received } = await reviewed();
  for (let n = 0; n < 22; n += 1) await comment(`Comment ${n + 1}.`);
  skip(61);
  await round();
  const [mail] = await received(1);
  expect(mail?.subject).toContain('22 comments');
  expect(mail?.text.match(/^> Comment/gm)).toHaveLength(20);
  expect(mail?.text).toContain('And 2 more.');
});

test('concurrent rounds send one e-mail', async () => {
  const { comment, received, queued } = await reviewed();
  await comment('Larger');
  skip(61);
  const rounds = await Promise.all(Array.from({ length: 6 }, round));
  expect(rounds.reduce((sum, count) => sum + count, 0)).toBe(1);
  await received(1);
  expect(await queued()).toBe(1);
});

test('a worker killed while it queues the e-mail sends none, and the next one', async () => {
  const { comment, site, received, queued } = await reviewed();
  await comment('Larger');
  const em = fixture.deps.em();
  // The clock of a process of its own cannot be moved.
  await em.execute('update comment_thread set changed_at = ? where site_id = ?', [
    new Date(Date.now() - 61 * minuteMs),
    site.id,
  ]);
  await fixture.stopWorker();
  const processes = openProcesses(fixture, { FRONTAGE_SMTP_URL: fixture.config.mail?.url ?? '' });
  try {
    const worker = await processes.startWorker();
    await stalledAtQueue(fixture, async (stalled) => {
      await mailOwners(fixture, { isAwaited: false });
      await stalled();
      await processes.killed(worker);
    });
    expect(await queued()).toBe(0);
    await processes.startWorker();
    await mailOwners(fixture);
    await received(1);
    expect(await queued()).toBe(1);
  } finally {
    processes.close();
  }
}, 120_000);
