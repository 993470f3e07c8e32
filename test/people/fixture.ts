/** The API with mail enabled and no sender: queued mails are read here. */
import { openAccount } from '#api/accounts/rules.ts';
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter } from '#db/mail/queue.ts';
import { callWith, createFixture } from '#test/api/fixture.ts';
import { type MailData, type MailKind, writeMail } from '#web/mails/mails.ts';
import { newBrowser } from './browser.ts';

export type Letter = { kind: MailKind; to: string; subject: string; text: string; html: string; link: string };

export async function createPeopleFixture(env: Record<string, string> = {}) {
  const fixture = await createFixture({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1', ...env });
  const anyone = callWith(fixture.url);
  let people = 0;

  /** What was written to the address, newest first. `link` is the path of its one link. */
  async function lettersTo(address: string): Promise<Letter[]> {
    const mails = await fixture.deps.em().find(Mail, { status: 'queued' }, { orderBy: { id: 'desc' } });
    return mails.flatMap(({ id, kind, sealed }) => {
      const { to, data } = decryptLetter({ id, sealed: sealed as Uint8Array }, fixture.config.encryptionKeys);
      if (to !== address) return [];
      const written = writeMail(kind, data as MailData<typeof kind>, { baseUrl: fixture.config.baseUrl });
      const link = /https?:\/\/\S+/.exec(written.text)?.[0];
      return [{ kind, to, ...written, link: link ? new URL(link).pathname : '' }];
    });
  }

  return {
    ...fixture,
    anyone,
    lettersTo,
    /** The newest link of this kind that the address got. */
    async linkTo(address: string, kind: MailKind): Promise<string> {
      const letter = (await lettersTo(address)).find((one) => one.kind === kind);
      if (!letter?.link) throw new Error(`no ${kind} with a link went to ${address}`);
      return letter.link;
    },
    newAddress: () => `person${++people}@example.com`,
    browser: () => newBrowser(fixture.url),
    /** An address with an account. */
    async newOwner() {
      const email = `person${++people}@example.com`;
      const account = await openAccount(fixture.deps.em(), fixture.clock, { email, name: `Person ${people}` });
      return { email, accountId: account.id };
    },
    ask: (email: string, more: Record<string, unknown> = {}, call = anyone) =>
      call('POST', '/v1/auth/requests', { body: { email, agent_name: 'Claude', ...more } }),
    redeem: ({ id, secret }: { id: string; secret: string }, call = anyone) =>
      call('POST', `/v1/auth/requests/${id}/redeem`, { body: { secret } }),
  };
}
export type PeopleFixture = Awaited<ReturnType<typeof createPeopleFixture>>;
