/** One site with every kind of caller. */

import { randomInt } from 'node:crypto';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { Domain } from '#db/domains/domain.ts';
import { Submission } from '#db/forms/submission.ts';
import { hourMs } from '#rules/time.ts';
import { newId } from '#runtime/ids.ts';
import { type Call, callWith, createFixture, createSite } from '#test/api/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { challengeEnv } from '#test/forms/fixture.ts';
import { pngOf } from '#test/git/samples.ts';
import { people } from '#test/invitations/fixture.ts';
import { attachAccount, payingEnv } from '#test/payments/fixture.ts';
import { acceptedPublish } from '#test/publishing/acceptance.ts';
import { drawnSketch, drawnVersion } from '#test/renderings/drawn.ts';
import type { Who } from './access-rules.ts';

export type AccessFixture = Awaited<ReturnType<typeof createAccessFixture>>;

export async function createAccessFixture(
  env: Record<string, string> = {},
  options: Parameters<typeof createFixture>[1] = {},
) {
  const base = {
    FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1',
    FRONTAGE_PHOTOS: 'offline',
    FRONTAGE_SCREENSHOTS: 'on',
    // Nobody answers there.
    FRONTAGE_DNS_RESOLVERS: '127.0.0.1:9',
    ...challengeEnv,
    ...payingEnv(9),
  };
  const fixture = await createFixture({ ...base, ...env }, options);
  const ask = people(fixture);
  const [owner, collaborator, former, invitee, stranger, payoutOwner] = (await Promise.all(
    Array.from({ length: 6 }, () => fixture.newCaller()),
  )) as [Caller, Caller, Caller, Caller, Caller, Caller];
  const inviteeEmail = await ask.emailOf(invitee);
  const site: { id: string } = await createSite(owner);
  await surround(site.id);
  const { id: deploymentId } = await acceptedPublish(fixture.deps, { siteId: site.id, createdBy: owner.accountId });

  /** Its collaborator, its former one and its invitee. */
  async function surround(siteId: string): Promise<void> {
    await join(siteId, collaborator.accountId);
    await join(siteId, former.accountId);
    await ask.remove(owner, siteId, former.accountId);
    await ask.invite(owner, siteId, inviteeEmail);
  }

  async function join(siteId: string, accountId: string): Promise<void> {
    const em = fixture.deps.em();
    em.create(Collaborator, { site: siteId, account: accountId, since: fixture.clock.now() });
    await em.flush();
  }

  async function newPayoutAccount({ call }: Caller): Promise<{ id: string }> {
    const { body } = await call('POST', '/v1/account/payout-accounts', { body: { rail: 'connect' } });
    return { id: body.id };
  }

  const calls: Record<Who, Call> = {
    'no token': callWith(fixture.url),
    'wrong token': callWith(fixture.url, `fro_${'0'.repeat(43)}`),
    stranger: stranger.call,
    invitee: invitee.call,
    'payout owner': payoutOwner.call,
    former: former.call,
    collaborator: collaborator.call,
    owner: owner.call,
  };

  return {
    close: fixture.close,
    url: fixture.url,
    deps: fixture.deps,
    ownerId: owner.accountId,
    collaboratorId: collaborator.accountId,
    /** Of the callers with a token. */
    accountIds: {
      stranger: stranger.accountId,
      invitee: invitee.accountId,
      'payout owner': payoutOwner.accountId,
      former: former.accountId,
      collaborator: collaborator.accountId,
      owner: owner.accountId,
    },
    /** Of the owner. */
    token: owner.token,
    tokens: { owner: owner.token, invitee: invitee.token },
    calls,
    siteId: site.id,
    deploymentId,
    document: async () => (await owner.call('GET', '/openapi.json')).body,
    /** For calls that change what others are tried on. */
    async anotherSite() {
      const { id } = await ask.newSite(owner);
      await surround(id);
      return { id };
    },
    payoutAccount: () => newPayoutAccount(owner),
    /** From the owner's site to the payout owner. */
    async payoutOffer() {
      const account = await newPayoutAccount(payoutOwner);
      const { id: siteId } = await ask.newSite(owner);
      await surround(siteId);
      const body = { payout_account_id: account.id };
      const offer = await owner.call('POST', `/v1/sites/${siteId}/payout-offers`, { body });
      return { id: offer.body.id as string, siteId };
    },
    /** A site of the owner that pays into the payout owner's account. */
    async payingSite() {
      const { id, siteId } = await this.payoutOffer();
      await payoutOwner.call('POST', `/v1/payout-offers/${id}/accept`);
      return { id: siteId };
    },
    async member() {
      const extra = await fixture.newCaller();
      await join(site.id, extra.accountId);
      return { account_id: extra.accountId };
    },
    async invitation() {
      const { body } = await ask.invite(owner, site.id, `guest-${newId('acct')}@example.com`);
      return { invitation_id: body.id };
    },
    async inviteesInvitation() {
      const { id } = await ask.newSite(owner);
      const { body } = await ask.invite(owner, id, inviteeEmail);
      return { id: body.id };
    },
    /** A version of the site that was drawn, checked and compared. */
    drawnVersion: () => drawnVersion(fixture.deps, { siteId: site.id, accountId: owner.accountId }),
    async ownersSketch() {
      const body = { title: 'T', directions: [{ name: 'One', html: '<p>1' }] };
      return { id: (await owner.call('POST', '/v1/sketches', { body })).body.id };
    },
    /** A sketch of which there is a picture. */
    async drawnSketch() {
      const body = { title: 'T', directions: [{ name: 'One', html: '<p>1' }] };
      const { id } = (await owner.call('POST', '/v1/sketches', { body })).body;
      await drawnSketch(fixture.deps, id);
      return { id };
    },
    async uploadLink() {
      const { body } = await owner.call('POST', `/v1/sites/${site.id}/uploads`, { body: { expires_in_seconds: 60 } });
      return { id: body.id };
    },
    /** A site of the owner that takes bookings, with everybody around it. */
    async bookable() {
      const { id } = await ask.newSite(owner);
      await surround(id);
      const { body } = await owner.call('POST', `/v1/sites/${id}/bookable`, { body: timetable() });
      return { public_id: body.public_id, siteId: id };
    },
    /** A full hour of the next 200 days, which is unlikely to be booked. */
    someHour() {
      const hour = Math.floor(fixture.clock.now().getTime() / hourMs);
      return new Date((hour + randomInt(24, 4800)) * hourMs).toISOString();
    },
    async booking() {
      const { public_id, siteId } = await this.bookable();
      const { body } = await owner.call('GET', `/b/${public_id}/days?service=talk`);
      const day = `/b/${public_id}/slots?service=talk&date=${body.days[3].date}`;
      const { start } = (await owner.call('GET', day)).body.slots[0];
      const visitor = { name: 'V', email: 'v@example.com' };
      const booked = await owner.call('POST', `/b/${public_id}`, { body: { service: 'talk', start, visitor } });
      return { id: booked.body.id, siteId };
    },
    /** Of a site of the owner, with everybody around it. */
    async payment() {
      const { id } = await ask.newSite(owner);
      await surround(id);
      await attachAccount(fixture, owner, id);
      const body = { amount: 1250, currency: 'EUR' };
      return { id: (await owner.call('POST', `/v1/sites/${id}/payments`, { body })).body.id, siteId: id };
    },
    async cancelledBooking() {
      const { id, siteId } = await this.booking();
      await owner.call('POST', `/v1/bookings/${id}/cancel`);
      return { id, siteId };
    },
    async thread() {
      const body = { page: '/', body: 'Larger, please.', screenshot_base64: pngOf(1, 1).toString('base64') };
      return { id: (await owner.call('POST', `/v1/sites/${site.id}/comments`, { body })).body.id };
    },
    async gitCredential() {
      const body = { repository: 'source', access: 'read' };
      return { id: (await owner.call('POST', `/v1/sites/${site.id}/git-credentials`, { body })).body.id };
    },
    async calendarFeed() {
      return { id: (await owner.call('POST', `/v1/sites/${site.id}/calendar-feeds`)).body.id };
    },
    async reviewLink() {
      return { id: (await owner.call('POST', `/v1/sites/${site.id}/review-links`)).body.id };
    },
    async form() {
      const body = { name: 'F', fields: [{ name: 'a', label: 'A', kind: 'text' }] };
      const { id } = (await owner.call('POST', `/v1/sites/${site.id}/forms`, { body })).body;
      return { id, form_id: id };
    },
    async submission() {
      const { id } = await this.form();
      const em = fixture.deps.em().fork();
      const now = fixture.clock.now();
      const expiresAt = new Date(now.getTime() + 86_400_000);
      const row = { id: newId('sub'), form: id, values: [], page: null, spam: false, createdAt: now, expiresAt };
      await em.insert(Submission, row);
      return { id: row.id };
    },
    /** One that the owner brought while this deployment took domains. */
    async domain() {
      const em = fixture.deps.em();
      const id = newId('dom');
      const name = `${id.slice(-20)}.example.com`;
      const now = fixture.clock.now();
      const rest = { status: 'pending', statusSince: now, nextCheckAt: now, createdAt: now } as const;
      const registrable = 'example.com';
      em.create(Domain, {
        id,
        account: owner.accountId,
        name,
        registrable,
        mode: 'cname',
        proof: id,
        pair: id,
        ...rest,
      });
      await em.flush();
      return { id };
    },
    async accessRequest() {
      const body = { email: inviteeEmail, agent_name: 'Agent' };
      return { id: (await calls['no token']('POST', '/v1/auth/requests', { body })).body.id };
    },
    async ownersToken() {
      const { body } = await owner.call('POST', '/v1/tokens', { body: { name: 'To be changed' } });
      return { id: body.id };
    },
  };
}

type Caller = Awaited<ReturnType<Awaited<ReturnType<typeof createFixture>>['newCaller']>>;
