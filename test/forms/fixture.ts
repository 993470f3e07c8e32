/** Forms of sites, and visitors who solve challenges and send. */
import { type Challenge, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { afterAll } from 'vitest';
import type { FormField } from '#db/forms/form.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import { type Answer, type Caller, callWith, createFixture, type Fixture, type Sent } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';

/** A challenge that takes a test some milliseconds. */
export const challengeEnv = { FRONTAGE_CHALLENGE_KEY: 'a key of the tests', FRONTAGE_CHALLENGE_ROUNDS: '20000' };

export const contactFields: Partial<FormField>[] = [
  { name: 'name', label: 'Your name', kind: 'text', required: true },
  { name: 'email', label: 'Your address', kind: 'email', required: true },
  { name: 'message', label: 'What is it about?', kind: 'textarea' },
];
export const ada = { name: 'Ada', email: 'ada@example.com', message: 'Bread, please' };

/** The solution of a challenge, as a widget sends it. */
export async function solve(challenge: unknown): Promise<string> {
  const solution = await solveChallenge({ challenge: challenge as Challenge, deriveKey });
  return Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
}

export type FormMade = {
  id: string;
  site: { id: string; name: string; title: string; address: string };
  action_url: string;
};

export function forms(fixture: Pick<Fixture, 'deps' | 'clock' | 'newCaller' | 'config' | 'url'>) {
  const ask = people(fixture);
  const visitor = callWith(fixture.url);

  async function newSite(owner: Caller) {
    const site = await ask.newSite(owner);
    return { ...site, address: siteAddress(fixture.config, site.name) };
  }

  async function newForm(owner: Caller, input: Record<string, unknown> = {}, onSite?: FormMade['site']) {
    const site = onSite ?? (await newSite(owner));
    const body = { name: 'Contact', fields: contactFields, ...input };
    const answer = await owner.call('POST', `/v1/sites/${site.id}/forms`, { body });
    if (answer.status !== 200) throw new Error(`no form was made: ${answer.text}`);
    return { ...answer.body, site } as FormMade & Record<string, unknown>;
  }

  const challengeOf = async (formId: string) => (await visitor('GET', `/f/${formId}/challenge`)).body;
  const solved = async (formId: string) => await solve(await challengeOf(formId));

  /** Sends as a program does, with a solved challenge. */
  async function send(formId: string, answers: Record<string, unknown> = ada, sent: Sent = {}): Promise<Answer> {
    return await visitor('POST', `/f/${formId}`, { body: { ...answers, altcha: await solved(formId) }, ...sent });
  }

  /** Sends as a browser does whose page runs no script. */
  async function post(
    formId: string,
    answers: Record<string, string> | [string, string][],
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const type = 'application/x-www-form-urlencoded';
    const accept = 'text/html,application/xhtml+xml';
    const raw = new URLSearchParams(answers).toString();
    return await visitor('POST', `/f/${formId}`, { raw, headers: { 'content-type': type, accept, ...headers } });
  }

  const submissions = async (owner: Caller, formId: string, query = '') =>
    await owner.call('GET', `/v1/forms/${formId}/submissions${query}`);

  return { ...ask, newSite, visitor, newForm, challengeOf, solved, send, post, submissions };
}

/** The API with forms, and an owner. It closes after the file's tests. */
export async function useForms(env: Record<string, string> = {}) {
  const fixture = await createFixture({ ...challengeEnv, ...env });
  afterAll(() => fixture.close());
  return { fixture, ask: forms(fixture), owner: await fixture.newCaller() };
}
