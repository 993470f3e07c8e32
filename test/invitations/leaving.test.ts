/** How people end what they were offered or given: invitations declined, sites left. */
import { afterAll, expect, test } from 'vitest';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { Invitation } from '#db/collaborators/invitation.ts';
import { settleInvitation } from '#db/collaborators/invitation-expiry.ts';
import { Site } from '#db/sites/site.ts';
import { type Answer, type Caller, errorOf } from '#test/api/fixture.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { people, refusal } from './fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());
const ask = people(fixture);
const owner = await fixture.newCaller();
const { name: ownerName, email: ownerEmail } = (await owner.call('GET', '/v1/account')).body;

const decline = ({ call }: Pick<Caller, 'call'>, id: string) => call('DELETE', `/v1/invitations/${id}`);
const leave = ({ call }: Pick<Caller, 'call'>, siteId: string) =>
  call('DELETE', `/v1/sites/${siteId}/collaborators/me`);
const outcome = (answer: Answer) => (answer.status === 200 ? answer.body.status : errorOf(answer).code);

async function invited() {
  const site = await ask.newSite(owner);
  const guest = await fixture.newSignedIn();
  const { body } = await ask.invite(owner, site.id, guest.email);
  return { site, guest, invitation: body };
}

test('a declined invitation is over, and its address is free', async () => {
  const { site, guest, invitation } = await invited();
  const { status, body } = await decline(guest, invitation.id);
  expect([status, body]).toMatchObject([200, { id: invitation.id, status: 'declined', mail: 'not_sent' }]);
  expect(body).not.toHaveProperty('next_action');
  expect((await decline(guest, invitation.id)).body).toEqual(body);
  expect((await guest.call('GET', '/v1/invitations')).body.items).toEqual([]);
  expect((await owner.call('GET', `/v1/sites/${site.id}/invitations`)).body.items).toEqual([]);
  expect(outcome(await ask.accept(guest, invitation.id))).toBe('not_found');
  expect(outcome(await ask.withdraw(owner, site.id, invitation.id))).toBe('declined');
  const settled = await settleInvitation(fixture.deps.em(), fixture.clock.now(), invitation.id);
  expect(settled).toMatchObject({ settled: true, status: 'declined' });
  const again = await ask.invite(owner, site.id, guest.email);
  expect([again.status, outcome(await ask.accept(guest, again.body.id))]).toEqual([200, 'accepted']);
});

test('an expired invitation can be declined, and others cannot', async () => {
  const [{ guest, invitation }, foreign, gone] = [await invited(), await invited(), await invited()];
  fixture.skip(15 * 86_400_000);
  expect(outcome(await decline(guest, invitation.id))).toBe('declined');
  expect(outcome(await decline(guest, foreign.invitation.id))).toBe('not_found');
  expect(outcome(await decline(owner, foreign.invitation.id))).toBe('not_found');
  await ask.withdraw(owner, gone.site.id, gone.invitation.id);
  expect(outcome(await decline(gone.guest, gone.invitation.id))).toBe('not_found');
  for (const id of ['x', 'inv_01h455vb4pex5vsknk084sn02q']) expect(outcome(await decline(guest, id))).toBe('not_found');
});

test('an accepted invitation is not declined, and the answer says how to leave', async () => {
  const { site, guest, invitation } = await invited();
  await ask.accept(guest, invitation.id);
  expect(refusal(await decline(guest, invitation.id))).toMatchObject({
    status: 409,
    code: 'invitation_accepted',
    nextAction: expect.stringContaining(`DELETE /v1/sites/${site.id}/collaborators/me`),
  });
});

test('an invitation to a site under deletion waits until the site is restored', async () => {
  const { site, guest, invitation } = await invited();
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  expect((await owner.call('DELETE', `/v1/sites/${site.id}?confirm=true`)).status).toBe(200);
  expect((await guest.call('GET', '/v1/invitations')).body.items).toEqual([]);
  expect((await guest.call('GET', '/v1/inbox')).body.items).toEqual([]);
  for (const path of ['/account', `/invitations/${invitation.id}`])
    expect((await guest.browser.open(path)).text).not.toContain(site.name);
  expect([outcome(await ask.accept(guest, invitation.id)), outcome(await decline(guest, invitation.id))]).toEqual([
    'not_found',
    'not_found',
  ]);
  await owner.call('POST', `/v1/sites/${site.id}/restore-site`);
  expect((await guest.call('GET', '/v1/invitations')).body.items).toHaveLength(1);
  expect(outcome(await ask.accept(guest, invitation.id))).toBe('accepted');
});

test('an acceptance that waits while the purge of the site begins gives nothing', async () => {
  const { site, guest, invitation } = await invited();
  const em = fixture.deps.em();
  let answer: Promise<Answer> | undefined;
  await em.transactional(async (tx) => {
    await tx.execute('select 1 from site where id = ? for update', [site.id]);
    answer = ask.accept(guest, invitation.id);
    await untilBlocked(fixture.deps);
    const now = fixture.clock.now();
    await tx.execute('update site set delete_at = ?, purged_at = ? where id = ?', [now, now, site.id]);
  });
  expect(outcome((await answer) as Answer)).toBe('not_found');
  expect(await em.count(Collaborator, { site: site.id })).toBe(0);
});

test('of a concurrent acceptance, refusal and withdrawal one wins, and all sides agree', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { site, guest, invitation } = await invited();
    const answers = await Promise.all([
      ask.accept(guest, invitation.id),
      decline(guest, invitation.id),
      ask.withdraw(owner, site.id, invitation.id),
    ]);
    const [accepted, declined, withdrawn] = answers.map(outcome);
    const row = await fixture.deps.em().findOneOrFail(Invitation, { id: invitation.id });
    const inside = (await fixture.deps.em().count(Collaborator, { site: site.id })) > 0;
    const won = inside ? 'accepted' : row.declinedAt ? 'declined' : 'withdrawn';
    expect([won, accepted, declined, withdrawn]).toEqual(
      {
        accepted: [won, 'accepted', 'invitation_accepted', 'invitation_accepted'],
        declined: [won, 'not_found', 'declined', 'declined'],
        withdrawn: [won, 'not_found', 'not_found', 'withdrawn'],
      }[won],
    );
  }
});

test('invitations name the inviter by name and address, in calls, mail, inbox and pages', async () => {
  const { site, guest, invitation } = await invited();
  const by = { name: ownerName, email: ownerEmail };
  expect(invitation.invited_by).toEqual(by);
  const [seen] = (await guest.call('GET', '/v1/invitations')).body.items;
  expect(seen).toMatchObject({ invited_by: by, next_action: expect.stringContaining('DELETE /v1/invitations/inv_') });
  const [letter] = await fixture.lettersTo(guest.email);
  expect(letter?.text).toContain(`Invited by: ${ownerName} (${ownerEmail})`);
  expect(letter?.subject).toContain(`${site.name}.sites.localhost`);
  const [item] = (await guest.call('GET', '/v1/inbox')).body.items;
  expect(item.title).toBe(
    `${ownerName} (${ownerEmail}) has invited this account to work on ${site.name}.sites.localhost.`,
  );
  for (const path of ['/account', `/invitations/${invitation.id}`])
    expect((await guest.browser.open(path)).text).toContain(`${ownerName} (${ownerEmail})`);
});

test('a collaborator who leaves loses access at once, with all tokens and git passwords', async () => {
  const { site, guest, invitation } = await invited();
  await ask.accept(guest, invitation.id);
  const second = (await guest.call('POST', '/v1/tokens', { body: { name: 'second' } })).body.access_token;
  const read = () => guest.call('GET', `/v1/sites/${site.id}`, { headers: { authorization: `Bearer ${second}` } });
  expect((await read()).status).toBe(200);
  expect((await leave(guest, site.id)).body).toMatchObject({
    account_id: guest.accountId,
    role: 'collaborator',
    ended: { git_credentials: 0, upload_links: 0, review_links: 0, calendar_feeds: 0 },
    moved: { forms: [] },
  });
  expect([outcome(await read()), outcome(await leave(guest, site.id))]).toEqual(['not_found', 'not_found']);
  expect((await fixture.deps.em().findOneOrFail(Site, { id: site.id })).cacheEpoch).toBe(1);
  expect((await ask.invite(owner, site.id, guest.email)).status).toBe(200);
});

test('an owner cannot leave their site, and the answer says how to end it', async () => {
  const site = await ask.newSite(owner);
  for (const answer of [await leave(owner, site.id), await ask.remove(owner, site.id, owner.accountId)])
    expect(refusal(answer)).toMatchObject({
      status: 409,
      code: 'owner_cannot_leave',
      message: 'This account owns the site, so it cannot be removed as a collaborator.',
      nextAction: expect.stringContaining(`POST /v1/sites/${site.id}/archive`),
    });
});

test('pages ask before a person declines or leaves, and say what was done', async () => {
  const { guest, invitation, site } = await invited();
  const host = `${site.name}.sites.localhost`;
  const declining = `/account/invitations/${invitation.id}/decline`;
  for (const path of ['/account', `/invitations/${invitation.id}`])
    expect((await guest.browser.open(path)).text).toContain(`href="${declining}"`);
  const question = await guest.browser.open(declining);
  expect(question.text).toContain('Decline this invitation?');
  expect((await guest.call('GET', '/v1/invitations')).body.items).toHaveLength(1);
  const declined = await guest.browser.press(question, 'Decline');
  expect([declined.status, declined.text.includes('You have declined this invitation')]).toEqual([200, true]);
  // A second press of an open page says the same.
  expect((await guest.browser.press(question, 'Decline')).text).toContain('You have declined this invitation');
  expect((await guest.browser.open(declining)).status).toBe(410);

  await ask.invite(owner, site.id, guest.email);
  const account = await guest.browser.press(await guest.browser.open('/account'), 'Accept');
  const leaving = `/account/sites/${site.id}/leave`;
  expect(account.text).toContain(`href="${leaving}"`);
  const page = await guest.browser.open(leaving);
  expect(page.text).toContain(`Leave ${host}?`);
  expect(page.text).toContain(`${ownerName} (${ownerEmail})`);
  expect((await guest.call('GET', `/v1/sites/${site.id}`)).status).toBe(200);
  const left = await guest.browser.press(page, 'Leave');
  expect([left.status, left.text.includes(`You have left ${host}`)]).toEqual([200, true]);
  expect((await guest.call('GET', `/v1/sites/${site.id}`)).status).toBe(404);
  const again = [await guest.browser.press(page, 'Leave'), await guest.browser.open(leaving)];
  expect(again.map(({ status }) => status)).toEqual([404, 404]);
  expect((await guest.browser.open('/account/sites/site_01h455vb4pex5vsknk084sn02q/leave')).status).toBe(404);
});
