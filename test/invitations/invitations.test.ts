/** Invitations and collaborators over the wire: every call, every state, every refusal. */
import { expect, test } from 'vitest';
import { Invitation } from '#db/collaborators/invitation.ts';
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter, withText } from '#db/mail/queue.ts';
import { Site } from '#db/sites/site.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';
import { refusal, useUnsent } from './fixture.ts';

const dayMs = 24 * 3600_000;

const { fixture, ask, owner } = await useUnsent();
const guest = await fixture.newCaller();
const guestEmail = await ask.emailOf(guest);

let strangers = 0;
const newAddress = () => `stranger-${++strangers}@example.com`;

test('both sides see an invitation’s hostname, address, status, expiry and mail', async () => {
  const site = await ask.newSite(owner);
  const { status, body } = await ask.invite(owner, site.id, ` ${guestEmail.toUpperCase()} `);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id: expect.stringMatching(/^inv_/),
    site: { id: site.id, hostname: `${site.name}.sites.localhost` },
    email: guestEmail,
    status: 'open',
    mail: 'queued',
  });
  expect(body.invitation_id).toBe(body.id);
  expect(new Date(body.expires_at).getTime() - new Date(body.created_at).getTime()).toBe(14 * dayMs);
  expect(body.next_action).toContain(`/v1/sites/${site.id}/collaborators`);

  const listed = await owner.call('GET', `/v1/sites/${site.id}/invitations`);
  expect(listed.body.items).toEqual([body]);
  const offered = await guest.call('GET', '/v1/invitations');
  const mine = offered.body.items.find(({ id }: { id: string }) => id === body.id);
  expect(mine).toMatchObject({ site: body.site, status: 'open', next_action: expect.stringContaining(body.id) });
  expect(offered.text).not.toContain('Do not say this aloud');
});

test('an acceptance whose answer was lost is answered when it is sent again', async () => {
  const site = await ask.newSite(owner);
  const { body } = await ask.invite(owner, site.id, guestEmail);
  const accept = (key: string) =>
    guest.call('POST', `/v1/invitations/${body.id}/accept`, { headers: { 'idempotency-key': key } });
  const restore = loseNextAnswer(fixture, 'transactional');
  expect((await accept('lost')).status).toBe(500);
  restore();
  const again = await accept('lost');
  expect([again.status, again.body.status]).toEqual([200, 'accepted']);
  expect(refusal(await accept('another')).code).toBe('invitation_accepted');
  expect(fixture.takeUnexpected()).toHaveLength(1);
});

test('the mail names the site by hostname, and its link is our page', async () => {
  const site = await ask.newSite(owner);
  const { body } = await ask.invite(owner, site.id, guestEmail);
  const invitation = await fixture.deps.em().findOneOrFail(Invitation, { id: body.id });
  const mail = await fixture.deps.em().findOneOrFail(Mail, { id: invitation.mail.id }, withText);
  const letter = decryptLetter({ id: mail.id, sealed: mail.sealed ?? Buffer.alloc(0) }, fixture.config.encryptionKeys);
  expect(letter).toEqual({
    to: guestEmail,
    data: {
      hostname: `${site.name}.sites.localhost`,
      link: `${fixture.config.baseUrl}/invitations/${body.id}`,
      days: 14,
      inviter: { name: expect.any(String), email: await ask.emailOf(owner) },
    },
  });
});

test('an account that accepts becomes a collaborator with access', async () => {
  const site = await ask.newSite(owner);
  const newcomer = await fixture.newCaller();
  expect(refusal(await newcomer.call('GET', `/v1/sites/${site.id}`)).code).toBe('not_found');
  const { body: invited } = await ask.invite(owner, site.id, await ask.emailOf(newcomer));
  const { status, body } = await ask.accept(newcomer, invited.id);
  expect({ status, body }).toMatchObject({ status: 200, body: { id: invited.id, status: 'accepted' } });
  expect(body).not.toHaveProperty('next_action');

  expect((await newcomer.call('GET', `/v1/sites/${site.id}`)).body).toMatchObject({
    id: site.id,
    role: 'collaborator',
  });
  const sites = (await newcomer.call('GET', '/v1/sites')).body.items;
  expect(sites.map((one: { id: string; role: string }) => [one.id, one.role])).toEqual([[site.id, 'collaborator']]);
  const changed = await newcomer.call('PATCH', `/v1/sites/${site.id}`, { body: { title: 'By a collaborator' } });
  expect(changed.body).toMatchObject({ title: 'By a collaborator', role: 'collaborator' });
  expect((await owner.call('GET', `/v1/sites/${site.id}`)).body.role).toBe('owner');
  expect((await newcomer.call('GET', '/v1/account')).body.counts.sites).toBe(0);
  expect((await owner.call('GET', `/v1/sites/${site.id}/invitations`)).body.items).toEqual([]);
});

test('the list of collaborators has pages with the owner first', async () => {
  const site = await ask.newSite(owner);
  const first = await ask.newCollaborator(owner, site.id);
  const second = await ask.newCollaborator(owner, site.id);
  const path = `/v1/sites/${site.id}/collaborators`;
  const { body } = await second.call('GET', path);
  expect(body.items.map((one: Record<string, unknown>) => [one.account_id, one.role])).toEqual([
    [owner.accountId, 'owner'],
    [second.accountId, 'collaborator'],
    [first.accountId, 'collaborator'],
  ]);
  expect(body.items[1]).toMatchObject({ email: await ask.emailOf(second), name: expect.any(String) });
  const pages = [];
  for (let cursor = ''; ; ) {
    const { body: part } = await owner.call('GET', `${path}?limit=1${cursor && `&cursor=${cursor}`}`);
    pages.push(...part.items);
    if (!part.next_cursor) break;
    cursor = part.next_cursor;
  }
  expect(pages).toEqual(body.items);
});

test('a collaborator’s call for owners is owner_only', async () => {
  const site = await ask.newSite(owner);
  const helper = await ask.newCollaborator(owner, site.id);
  const other = await ask.invite(owner, site.id, newAddress());
  const refusals = await Promise.all([
    ask.invite(helper, site.id, newAddress()),
    ask.remove(helper, site.id, helper.accountId),
    helper.call('GET', `/v1/sites/${site.id}/invitations`),
    ask.withdraw(helper, site.id, other.body.id),
    helper.call('PATCH', `/v1/sites/${site.id}`, { body: { name: 'taken-over' } }),
    helper.call('POST', `/v1/sites/${site.id}/archive`),
    helper.call('POST', `/v1/sites/${site.id}/unarchive`),
  ]);
  for (const answer of refusals) expect(refusal(answer)).toMatchObject({ status: 403, code: 'owner_only' });
  expect((await owner.call('GET', `/v1/sites/${site.id}`)).body).toMatchObject({ name: site.name, status: 'active' });
});

test('foreign sites, invitations and acceptances are not_found', async () => {
  const site = await ask.newSite(owner);
  const { body: invited } = await ask.invite(owner, site.id, guestEmail);
  const stranger = await fixture.newCaller();
  const elsewhere = await ask.newSite(stranger);
  const refusals = await Promise.all([
    ask.invite(stranger, site.id, newAddress()),
    stranger.call('GET', `/v1/sites/${site.id}/collaborators`),
    stranger.call('GET', `/v1/sites/${site.id}/invitations`),
    ask.withdraw(stranger, site.id, invited.id),
    ask.withdraw(stranger, elsewhere.id, invited.id),
    ask.remove(stranger, site.id, owner.accountId),
    ask.accept(stranger, invited.id),
    ask.accept(owner, invited.id),
    ask.accept(guest, 'inv_01h455vb4pex5vsknk084sn02q'),
    ask.accept(guest, 'x'),
    ask.withdraw(owner, site.id, 'inv_01h455vb4pex5vsknk084sn02q'),
    ask.remove(owner, site.id, stranger.accountId),
    ask.remove(owner, site.id, 'x'),
    // Invited is not yet in.
    guest.call('GET', `/v1/sites/${site.id}`),
  ]);
  for (const answer of refusals) expect(refusal(answer)).toMatchObject({ status: 404, code: 'not_found' });
  expect((await stranger.call('GET', '/v1/invitations')).body.items).toEqual([]);
});

test('an address has one open invitation to a site; a second call names it', async () => {
  const site = await ask.newSite(owner);
  const { body: first } = await ask.invite(owner, site.id, guestEmail);
  expect(refusal(await ask.invite(owner, site.id, guestEmail))).toMatchObject({
    status: 409,
    code: 'already_invited',
    nextAction: expect.stringContaining(`DELETE /v1/sites/${site.id}/invitations/${first.id}`),
  });
  expect((await ask.invite(owner, site.id, newAddress())).status).toBe(200);
  expect((await ask.invite(owner, (await ask.newSite(owner)).id, guestEmail)).status).toBe(200);
});

test('a call repeated with one Idempotency-Key creates one invitation', async () => {
  const site = await ask.newSite(owner);
  const call = () =>
    owner.call('POST', `/v1/sites/${site.id}/collaborators`, {
      body: { email: guestEmail },
      headers: { 'idempotency-key': `invite-${site.id}` },
    });
  const [first, second] = [await call(), await call()];
  expect([first.status, second.body]).toEqual([200, first.body]);
  const accept = () =>
    guest.call('POST', `/v1/invitations/${first.body.id}/accept`, { headers: { 'idempotency-key': 'accept' } });
  expect([(await accept()).body.status, (await accept()).body.status]).toEqual(['accepted', 'accepted']);
});

test('a withdrawn invitation cannot be accepted, and frees its address', async () => {
  const site = await ask.newSite(owner);
  const { body: invited } = await ask.invite(owner, site.id, guestEmail);
  const withdrawn = await ask.withdraw(owner, site.id, invited.id);
  expect(withdrawn.body).toMatchObject({
    id: invited.id,
    invitation_id: invited.id,
    status: 'withdrawn',
    mail: 'not_sent',
  });
  expect((await ask.withdraw(owner, site.id, invited.id)).body).toEqual(withdrawn.body);
  expect(refusal(await ask.accept(guest, invited.id)).code).toBe('not_found');
  const seen = (await guest.call('GET', '/v1/invitations')).body.items.map(({ id }: { id: string }) => id);
  expect(seen).not.toContain(invited.id);
  expect((await owner.call('GET', `/v1/sites/${site.id}/invitations`)).body.items).toEqual([]);
  const again = await ask.invite(owner, site.id, guestEmail);
  expect(again.status).toBe(200);
  expect(again.body.id).not.toBe(invited.id);
});

test('members are not invited again, and accepted invitations are not withdrawn', async () => {
  const site = await ask.newSite(owner);
  const member = await fixture.newCaller();
  const email = await ask.emailOf(member);
  const { body: invited } = await ask.invite(owner, site.id, email);
  await ask.accept(member, invited.id);
  const removal = expect.stringContaining(`DELETE /v1/sites/${site.id}/collaborators/${member.accountId}`);
  const accepted = { status: 409, code: 'invitation_accepted' };
  expect(refusal(await ask.invite(owner, site.id, email))).toMatchObject({ ...accepted, nextAction: removal });
  expect(refusal(await ask.withdraw(owner, site.id, invited.id))).toMatchObject({ ...accepted, nextAction: removal });
  expect(refusal(await ask.accept(member, invited.id))).toMatchObject(accepted);
  expect(refusal(await ask.invite(owner, site.id, await ask.emailOf(owner)))).toMatchObject(accepted);
});

test('an invitation is accepted by its id, and a link is invalid_invitation', async () => {
  const site = await ask.newSite(owner);
  const { body: invited } = await ask.invite(owner, site.id, guestEmail);
  const link = encodeURIComponent(`${fixture.config.baseUrl}/invitations/${invited.id}`);
  expect(refusal(await ask.accept(guest, link))).toMatchObject({ status: 400, code: 'invalid_invitation' });
  expect((await ask.accept(guest, invited.id)).status).toBe(200);
});

test('removing a collaborator ends the access of all their tokens at once', async () => {
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  const second = await member.call('POST', '/v1/tokens', { body: { name: 'second' } });
  const bearer = { authorization: `Bearer ${second.body.access_token}` };
  const read = () => member.call('GET', `/v1/sites/${site.id}`, { headers: bearer });
  expect((await read()).status).toBe(200);
  const removed = await ask.remove(owner, site.id, member.accountId);
  // What their code left in the caches of builds is not used again.
  expect((await fixture.deps.em().findOneOrFail(Site, { id: site.id })).cacheEpoch).toBe(1);
  expect(removed.body).toMatchObject({
    account_id: member.accountId,
    role: 'collaborator',
    ended: { git_credentials: 0, upload_links: 0, review_links: 0, calendar_feeds: 0 },
    moved: { forms: [] },
  });
  expect(refusal(await read()).code).toBe('not_found');
  expect(refusal(await member.call('GET', `/v1/sites/${site.id}`)).code).toBe('not_found');
  expect((await member.call('GET', '/v1/sites')).body.items).toEqual([]);
  expect(refusal(await ask.remove(owner, site.id, member.accountId)).code).toBe('not_found');
  // The way back is a new invitation.
  expect((await ask.invite(owner, site.id, await ask.emailOf(member))).status).toBe(200);
});
