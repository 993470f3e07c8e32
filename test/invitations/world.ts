/** Owners, sites and invitations for tests that speak of people; sites without repositories, which are quick to make. */
import { Site } from '#db/sites/site.ts';
import { newId, newPublicId } from '#runtime/ids.ts';
import { type Answer, type Caller, createWorld, freeName, type World } from '#test/api/world.ts';

/** The platform with mail switched on, and nobody to send it. */
export function createUnsentWorld(
  env: Record<string, string> = {},
  options: Parameters<typeof createWorld>[1] = {},
): Promise<World> {
  return createWorld({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9', ...env }, options);
}

export type People = ReturnType<typeof people>;

export function people(world: Pick<World, 'deps' | 'clock' | 'newCaller'>) {
  /** A site of this owner, as data: `id`, `name`. */
  async function newSite(owner: Caller): Promise<{ id: string; name: string }> {
    const em = world.deps.em();
    const [id, name] = [newId('site'), freeName()];
    em.create(Site, {
      id,
      name,
      account: owner.accountId,
      title: 'Do not say this aloud',
      template: 'blank',
      status: 'active',
      publicId: newPublicId(),
      createdAt: world.clock.now(),
    });
    await em.flush();
    return { id, name };
  }

  async function emailOf(caller: Caller): Promise<string> {
    return (await caller.call('GET', '/v1/account')).body.email;
  }

  const invite = (owner: Caller, siteId: string, email: string): Promise<Answer> =>
    owner.call('POST', `/v1/sites/${siteId}/collaborators`, { body: { email } });
  const accept = (guest: Caller, id: string): Promise<Answer> => guest.call('POST', `/v1/invitations/${id}/accept`);
  const withdraw = (owner: Caller, siteId: string, id: string): Promise<Answer> =>
    owner.call('DELETE', `/v1/sites/${siteId}/invitations/${id}`);
  const remove = (owner: Caller, siteId: string, accountId: string): Promise<Answer> =>
    owner.call('DELETE', `/v1/sites/${siteId}/collaborators/${accountId}`);

  /** An account that accepted an invitation to the site. */
  async function newCollaborator(owner: Caller, siteId: string): Promise<Caller> {
    const guest = await world.newCaller();
    const { body } = await invite(owner, siteId, await emailOf(guest));
    const { status, text } = await accept(guest, body.id);
    if (status !== 200) throw new Error(`no collaborator was made: ${text}`);
    return guest;
  }

  return { newSite, emailOf, invite, accept, withdraw, remove, newCollaborator };
}
