/** The API with mail enabled and no sender: queued mails are read here. */
import { openAccount } from '#api/accounts/rules.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter, withText } from '#db/mail/queue.ts';
import { callWith, createFixture } from '#test/api/fixture.ts';
import { type MailData, type MailKind, writeMail } from '#web/mails/mails.ts';
import { type Browser, newBrowser, type Shown } from './browser.ts';

export type Letter = {
  kind: MailKind;
  to: string;
  subject: string;
  text: string;
  html: string;
  link: string;
  code: string;
};

export async function createPeopleFixture(env: Record<string, string> = {}) {
  const fixture = await createFixture({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1', ...env });
  const anyone = callWith(fixture.url);
  let people = 0;

  /** What was written to the address, newest first. `link` is the path of its one link. */
  async function lettersTo(address: string): Promise<Letter[]> {
    const mails = await fixture.deps.em().find(Mail, { status: 'queued' }, { ...withText, orderBy: { id: 'desc' } });
    return mails.flatMap(({ id, kind, sealed }) => {
      const { to, data } = decryptLetter({ id, sealed: sealed as Uint8Array }, fixture.config.encryptionKeys);
      if (to !== address) return [];
      const written = writeMail(kind, data as MailData<typeof kind>, { baseUrl: fixture.config.baseUrl });
      const link = /https?:\/\/\S+/.exec(written.text)?.[0];
      const code = /^Code: ([A-Z]{8})$/m.exec(written.text)?.[1] ?? '';
      return [{ kind, to, ...written, link: link ? new URL(link).pathname : '', code }];
    });
  }

  /** The newest link of this kind that the address got. */
  async function linkTo(address: string, kind: MailKind): Promise<string> {
    const letter = (await lettersTo(address)).find((one) => one.kind === kind);
    if (!letter?.link) throw new Error(`no ${kind} with a link went to ${address}`);
    return letter.link;
  }

  /** Opens the newest link of this kind that the address got, and presses a button of its page with the mailed code. */
  async function answerMail(address: string, kind: MailKind, button: string, typed?: string): Promise<Shown> {
    const letter = (await lettersTo(address)).find((one) => one.kind === kind && one.link !== '');
    const browser = newBrowser(fixture.url);
    const page = await browser.open(letter?.link ?? '/no-such-mail');
    return page.status === 200 ? browser.press(page, button, { code: typed ?? letter?.code ?? '' }) : page;
  }

  /** An address with an account. */
  async function newOwner() {
    const email = `person${++people}@example.com`;
    const account = await openAccount(fixture.deps.em(), fixture.clock, { email, name: `Person ${people}` });
    return { email, accountId: account.id };
  }

  /** Signs the browser in by a mailed link, from the page that asks for the address. Returns what it then sees. */
  async function signIn(browser: Browser, email: string, page?: Shown): Promise<Shown> {
    await browser.press(page ?? (await browser.open('/signin')), 'Send me a link', { email });
    return browser.press(await browser.open(await linkTo(email, 'signin-link')), 'Sign in');
  }

  /** The same where the mail is read in another browser, whose page shows a code. */
  async function signInByCode(browser: Browser, email: string, page: Shown): Promise<Shown> {
    const waiting = await browser.press(page, 'Send me a link', { email });
    const phone = newBrowser(fixture.url);
    const shown = await phone.press(await phone.open(await linkTo(email, 'signin-link')), 'Show a code');
    return browser.press(waiting, 'Sign in', { code: /<p class="code">([0-9]{6})</.exec(shown.text)?.[1] ?? '' });
  }

  return {
    ...fixture,
    anyone,
    signIn,
    signInByCode,
    lettersTo,
    linkTo,
    answerMail,
    /** Both addresses confirm the pending change. Returns the last page. */
    async confirmChange(old: string, next: string) {
      await answerMail(old, 'address-change', 'Confirm the change');
      return answerMail(next, 'address-confirmation', 'Use this address');
    },
    newAddress: () => `person${++people}@example.com`,
    browser: () => newBrowser(fixture.url),
    newOwner,
    /** An owner with a token and a browser that is signed in. */
    async newSignedIn(name = 'Laptop') {
      const owner = await newOwner();
      const { secret, token } = await issueToken(fixture.deps.em(), fixture.clock, owner.accountId, { name });
      const browser = newBrowser(fixture.url);
      await signIn(browser, owner.email);
      return { ...owner, token: secret, tokenId: token.id, call: callWith(fixture.url, secret), browser };
    },
    ask: (email: string, more: Record<string, unknown> = {}, call = anyone) =>
      call('POST', '/v1/auth/requests', { body: { email, agent_name: 'Claude', ...more } }),
    redeem: ({ id, secret }: { id: string; secret: string }, call = anyone) =>
      call('POST', `/v1/auth/requests/${id}/redeem`, { body: { secret } }),
  };
}
export type PeopleFixture = Awaited<ReturnType<typeof createPeopleFixture>>;
