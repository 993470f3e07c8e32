/** Owners, sites and invitations for tests that speak of people; sites without repositories, which are quick to make. */
import { afterAll } from 'vitest';
import { Site } from '#db/sites/site.ts';
import { newId, newPublicId } from '#runtime/ids.ts';
import { type Answer, type Caller, createFixture, errorOf, type Fixture, freeName } from '#test/api/fixture.ts';

/** The platform with mail switched on, and nobody to send it. */
export function createUnsentFixture(
  env: Record<string, string> = {},
  options: Parameters<typeof createFixture>[1] = {},
): Promise<Fixture> {
  return createFixture({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9', ...env }, options);
}

export type People = ReturnType<typeof people>;

export function people(fixture: Pick<Fixture, 'deps' | 'clock' | 'newCaller'>) {
  /** A site of this owner, as data: `id`, `name`, `title`. */
  async function newSite(owner: Caller): Promise<{ id: string; name: string; title: string }> {
    const em = fixture.deps.em();
    const [id, name, title] = [newId('site'), freeName(), 'Do not say this aloud'];
    em.create(Site, {
      id,
      name,
      account: owner.accountId,
      title,
      template: 'blank',
      status: 'active',
      publicId: newPublicId(),
      createdAt: fixture.clock.now(),
    });
    await em.flush();
    return { id, name, title };
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
    const guest = await fixture.newCaller();
    const { body } = await invite(owner, siteId, await emailOf(guest));
    const { status, text } = await accept(guest, body.id);
    if (status !== 200) throw new Error(`no collaborator was made: ${text}`);
    return guest;
  }

  return { newSite, emailOf, invite, accept, withdraw, remove, newCollaborator };
}

/** The same with people, and an owner. It closes after the file's tests. */
export async function useUnsent() {
  const fixture = await createUnsentFixture();
  afterAll(() => fixture.close());
  return { fixture, ask: people(fixture), owner: await fixture.newCaller() };
}

export function refusal(answer: Answer) {
  const { code, message, next_action } = errorOf(answer);
  return { status: answer.status, code, message, nextAction: next_action };
}
