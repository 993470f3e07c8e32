/** Invitations where they end: by time, caps, addresses that are none, archived sites, and a platform without mail. */
import { expect, test } from 'vitest';
import { setAddress } from '#api/accounts/address.ts';
import { createFixture, limitsIn } from '#test/api/fixture.ts';
import { createUnsentFixture, people, refusal, useUnsent } from './fixture.ts';

const dayMs = 24 * 3600_000;

const { fixture, ask, owner } = await useUnsent();

let strangers = 0;
const newAddress = () => `stranger-${++strangers}@example.com`;

test('an expired invitation is closed for everybody, and keeps its address until withdrawn', async () => {
  const late = await createUnsentFixture();
  try {
    const ask = people(late);
    const [owner, guest] = [await late.newCaller(), await late.newCaller()];
    const email = await ask.emailOf(guest);
    const site = await ask.newSite(owner);
    const { body: invited } = await ask.invite(owner, site.id, email);
    late.skip(14 * dayMs);
    // No worker runs here: nobody has written the end down.
    expect(refusal(await ask.accept(guest, invited.id))).toMatchObject({ status: 410, code: 'expired' });
    expect((await guest.call('GET', '/v1/invitations')).body.items).toEqual([]);
    const [listed] = (await owner.call('GET', `/v1/sites/${site.id}/invitations`)).body.items;
    expect(listed).toMatchObject({ id: invited.id, status: 'expired', next_action: expect.stringContaining('DELETE') });
    expect(refusal(await ask.invite(owner, site.id, email))).toMatchObject({
      code: 'already_invited',
      nextAction: expect.stringContaining(invited.id),
    });
    expect((await ask.withdraw(owner, site.id, invited.id)).body.status).toBe('withdrawn');
    expect((await ask.invite(owner, site.id, email)).status).toBe(200);
  } finally {
    await late.close();
  }
});

test('collaborators and open invitations share one limit for each site', async () => {
  const limit = limitsIn(fixture.config).collaborators_per_site;
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  for (let count = 1; count < limit; count++) expect((await ask.invite(owner, site.id, newAddress())).status).toBe(200);
  const over = refusal(await ask.invite(owner, site.id, newAddress()));
  expect(over).toMatchObject({ status: 402, code: 'plan_limit', message: expect.stringContaining('this site') });
  await ask.remove(owner, site.id, member.accountId);
  expect((await ask.invite(owner, site.id, newAddress())).status).toBe(200);
});

test('an owner sends only so many invitations an hour, withdrawn ones included', async () => {
  const small = await createUnsentFixture({ FRONTAGE_RATE_SCALE: '0.025' });
  try {
    const ask = people(small);
    const owner = await small.newCaller();
    const site = await ask.newSite(owner);
    for (let count = 0; count < 3; count++) {
      const { body } = await ask.invite(owner, site.id, newAddress());
      expect((await ask.withdraw(owner, site.id, body.id)).body.status).toBe('withdrawn');
    }
    expect(refusal(await ask.invite(owner, site.id, newAddress()))).toMatchObject({
      status: 429,
      code: 'rate_limited',
    });
    small.skip(3600_000);
    expect((await ask.invite(owner, site.id, newAddress())).status).toBe(200);
  } finally {
    await small.close();
  }
});

test('on a full site an expired invitation is refused as expired', async () => {
  const small = await createUnsentFixture({}, { limits: { collaborators_per_site: 1 } });
  try {
    const ask = people(small);
    const [owner, guest, late] = [await small.newCaller(), await small.newCaller(), await small.newCaller()];
    const site = await ask.newSite(owner);
    const first = await ask.invite(owner, site.id, await ask.emailOf(late));
    small.skip(14 * dayMs);
    const second = await ask.invite(owner, site.id, await ask.emailOf(guest));
    expect((await ask.accept(guest, second.body.id)).status).toBe(200);
    expect(refusal(await ask.accept(guest, second.body.id)).code).toBe('invitation_accepted');
    expect(refusal(await ask.accept(late, first.body.id)).code).toBe('expired');
  } finally {
    await small.close();
  }
});

test('a member accepts an invitation to their new address, and the owner needs none', async () => {
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  const next = newAddress();
  const { body: invited } = await ask.invite(owner, site.id, next);
  await setAddress(fixture.deps.em(), fixture.deps, member.accountId, next);
  expect((await ask.accept(member, invited.id)).body).toMatchObject({ status: 'accepted' });
  const { body } = await owner.call('GET', `/v1/sites/${site.id}/collaborators`);
  expect(body.items).toHaveLength(2);

  const own = newAddress();
  const { body: toOwner } = await ask.invite(owner, site.id, own);
  await setAddress(fixture.deps.em(), fixture.deps, owner.accountId, own);
  expect(refusal(await ask.accept(owner, toOwner.id))).toMatchObject({ status: 409, code: 'invitation_accepted' });
});

test('addresses that are not plain are invalid_email', async () => {
  const site = await ask.newSite(owner);
  const odd = [
    '',
    'x',
    'a@b',
    'a@b@example.com',
    'A <a@example.com>',
    'a@example.com, b@example.com',
    'a@example.com\nbcc: x',
    7,
  ];
  for (const email of odd) {
    const { status, code } = refusal(await ask.invite(owner, site.id, email as string));
    expect({ email, status, code }).toEqual({ email, status: 400, code: 'invalid_email' });
  }
});

test('an archived site sends no invitations, and members can still leave it', async () => {
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  const { body: invited } = await ask.invite(owner, site.id, newAddress());
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  expect(refusal(await ask.invite(owner, site.id, newAddress())).code).toBe('site_archived');
  expect((await ask.withdraw(owner, site.id, invited.id)).body.status).toBe('withdrawn');
  expect((await ask.remove(owner, site.id, member.accountId)).status).toBe(200);
});

test('without mail invitations are refused, but the lists work', async () => {
  const silent = await createFixture();
  try {
    const owner = await silent.newCaller();
    const site = await people(silent).newSite(owner);
    const invite = (raw: string) => owner.call('POST', `/v1/sites/${site.id}/collaborators`, { raw });
    for (const raw of ['{"email":"a@example.com"}', '{']) {
      expect(refusal(await invite(raw))).toMatchObject({ status: 503, code: 'invitations_unavailable' });
    }
    expect((await owner.call('GET', '/v1/invitations')).body.items).toEqual([]);
    expect((await owner.call('GET', `/v1/sites/${site.id}/collaborators`)).body.items).toHaveLength(1);
    expect((await owner.call('GET', '/v1/account')).body.capabilities.mail).toBe(false);
  } finally {
    await silent.close();
  }
});
