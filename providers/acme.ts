/**
 * An authority that gives certificates (RFC 8555), a step at a time: any of them may be the last before a crash, so that callers write down
 * what came of each. Nothing is tried again here but what a nonce of the protocol stopped.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import * as acme from 'acme-client';
import type { Clock } from '#runtime/clock.ts';
import { AcmeRefused, AcmeUnreachable, kindOf, retryAfterOf } from './acme/refusal.ts';
import { fetchRenewalInfo, type Renewal, renewalId } from './acme/renewal.ts';

export type AcmeOrder = acme.Order;

/** What shows that one name of an order is ours. */
export type Challenge = {
  name: string;
  status: 'pending' | 'valid' | 'invalid';
  /** Of a TXT record, or of a page over HTTP; and what stands there. */
  kind: ChallengeKind;
  token: string;
  answer: string;
  /** Why the authority did not take it. */
  refusal: AcmeRefused | undefined;
  challenge: acme.Authorization['challenges'][number];
};
export type ChallengeKind = 'dns-01' | 'http-01';

export type AcmeAccountKey = { key: string; url: string };

export type Authority = {
  directoryUrl: string;
  /** A new private key, as PEM. */
  newKey(): Promise<string>;
  /** The address of the account that has this key; it is opened where there is none. */
  register(key: string): Promise<string>;
  session(account: AcmeAccountKey): AcmeSession;
  /** When the authority wants this certificate renewed; undefined where it does not say. */
  renewalOf(chain: string): Promise<Renewal | undefined>;
};

export type AcmeSession = {
  /** `replaces` is the chain that the new certificate takes the place of. */
  createOrder(names: string[], replaces?: string): Promise<AcmeOrder>;
  /** An order for exactly these names that is not over: opened before its address could be written down. */
  findOrder(names: string[]): Promise<AcmeOrder | undefined>;
  readOrder(url: string): Promise<AcmeOrder>;
  /** What is to be proved, each in this way. Throws AcmeRefused where the authority does not offer it. */
  challenges(order: AcmeOrder, kind: ChallengeKind): Promise<Challenge[]>;
  /** Tells the authority to look. */
  completeChallenge(proof: Challenge): Promise<void>;
  finalize(order: AcmeOrder, names: string[], key: string): Promise<void>;
  /** The whole chain as PEM, the certificate first. */
  download(order: AcmeOrder): Promise<string>;
};

type Settings = { directoryUrl: string; email: string; trusts: string };

const timeoutMs = 15_000;
const noncesMax = 4;
const ordersLookedAt = 10;

/** The library's settings are of the whole process, so one process talks to one authority. */
export function openAuthority({ directoryUrl, email, trusts }: Settings, clock: Clock): Authority {
  configureLibrary(trusts, clock);
  const contact = email ? [`mailto:${email}`] : [];
  // A directory is read once for each client of the library's, so clients are kept.
  const sessions = new Map<string, AcmeSession>();
  return {
    directoryUrl,
    newKey: async () => String(await acme.crypto.createPrivateEcdsaKey('P-256')),
    async register(key) {
      const client = new acme.Client({ directoryUrl, accountKey: key });
      await request(() => client.createAccount({ termsOfServiceAgreed: true, contact }));
      return client.getAccountUrl();
    },
    session({ key, url }) {
      const id = createHash('sha256').update(`${key}\n${url}`).digest('hex');
      const session = sessions.get(id) ?? openSession(directoryUrl, key, url);
      if (!sessions.has(id)) sessions.clear();
      sessions.set(id, session);
      return session;
    },
    renewalOf: (chain) => request(() => fetchRenewalInfo(acme.axios, directoryUrl, chain)),
  };
}

function configureLibrary(trusts: string, clock: Clock): void {
  const { defaults, interceptors } = acme.axios;
  // The library sends the nonce of a failed request again (open there); what is to be tried again is for callers to say.
  Object.assign(defaults, { acmeSettings: { ...acmeSettings(defaults), retryMaxAttempts: 0 } });
  defaults.timeout = timeoutMs;
  defaults.maxContentLength = 1024 * 1024;
  defaults.proxy = false;
  defaults.httpsAgent = new Agent({ keepAlive: true, maxSockets: 50, ...(trusts ? { ca: readFileSync(trusts) } : {}) });
  for (const id of responseInterceptors) interceptors.response.eject(id);
  responseInterceptors = [interceptors.response.use((answer) => checkResponse(answer, clock.now()))];
}
let responseInterceptors: number[] = [];
const acmeSettings = (defaults: object) => (defaults as { acmeSettings?: object }).acmeSettings;

type AcmeResponse = Parameters<NonNullable<Parameters<typeof acme.axios.interceptors.response.use>[0]>>[0];

/** The library keeps of a refusal its words alone: its kind is taken here. A nonce that is not good is the library's to mend. */
function checkResponse(answer: AcmeResponse, now: Date): AcmeResponse {
  if (answer.status < 400) return answer;
  const kind = kindOf(answer.data);
  if (kind === 'nonce' && answer.status === 400) return answer;
  const retryAfterMs = retryAfterOf(answer.headers['retry-after'], now);
  if (answer.status >= 500)
    throw new AcmeUnreachable(`the certificate authority answers ${answer.status}`, retryAfterMs);
  throw new AcmeRefused(answer.status === 429 ? 'limit' : answer.status === 404 ? 'order' : kind, retryAfterMs);
}

/** Runs one request or two of the library's. What it throws that is not ours is a connection that was lost, whatever it calls it. */
async function request<T>(act: () => Promise<T>): Promise<T> {
  for (let nonces = 0; ; nonces++) {
    try {
      return await act();
    } catch (error) {
      if (error instanceof AcmeRefused || error instanceof AcmeUnreachable) throw error;
      // The library gives up after some nonces that were refused; nothing was done then.
      if (!isNonce(error)) throw new AcmeUnreachable(`the certificate authority cannot be asked: ${nameOf(error)}`);
      if (nonces === noncesMax) throw new AcmeUnreachable('the certificate authority takes no nonce');
      await pause(20 * (nonces + 1));
    }
  }
}

const isNonce = (error: unknown) => error instanceof Error && /nonce/i.test(error.message);
const nameOf = (error: unknown) => ((error as { code?: unknown }).code ?? (error as Error).name ?? 'unknown') as string;

function openSession(directoryUrl: string, key: string, url: string): AcmeSession {
  const client = new acme.Client({ directoryUrl, accountKey: key, accountUrl: url });
  const readOrder = (at: string) => request(() => client.getOrder({ url: at } as AcmeOrder));

  async function proofOf(found: acme.Authorization, kind: ChallengeKind): Promise<Challenge> {
    const challenge = found.challenges.find(({ type }) => type === kind);
    if (!challenge) throw new AcmeRefused('name');
    const problem = found.challenges.find(({ error }) => error)?.error;
    const status = found.status === 'pending' || found.status === 'valid' ? found.status : 'invalid';
    return {
      name: found.wildcard ? `*.${found.identifier.value}` : found.identifier.value,
      status,
      kind,
      token: challenge.token,
      answer: await client.getChallengeKeyAuthorization(challenge),
      refusal: status === 'invalid' ? new AcmeRefused(kindOf(problem)) : undefined,
      challenge,
    };
  }

  return {
    readOrder,
    async createOrder(names, replaces) {
      const id = replaces === undefined ? undefined : renewalId(replaces);
      const wanted = { identifiers: identifiersOf(names), ...(id ? { replaces: id } : {}) };
      return await request(() => client.createOrder(wanted));
    },
    async findOrder(names) {
      const { orders } = (await request(() => client.updateAccount())) as { orders?: string };
      if (!orders) return undefined;
      // The list is read as an order is: the library has no call for it.
      const list = (await readOrder(orders)) as unknown as { orders?: string[] };
      for (const at of (list.orders ?? []).slice(-ordersLookedAt).reverse()) {
        const order = await readOrder(at);
        if (isOpen(order) && isFor(order, names)) return order;
      }
      return undefined;
    },
    async challenges(order, kind) {
      const found = await request(() => client.getAuthorizations(order));
      // One that stands from an earlier order may have been proved in another way.
      return await Promise.all(
        found.map((one) => proofOf(one, one.status === 'valid' ? validatedBy(one, kind) : kind)),
      );
    },
    async completeChallenge({ challenge }) {
      await request(() => client.completeChallenge(challenge));
    },
    async finalize(order, names, orderKey) {
      const [, csr] = await acme.crypto.createCsr({ altNames: names }, orderKey);
      await request(() => client.finalizeOrder(order, csr));
    },
    download: (order) => request(() => client.getCertificate(order)),
  };
}

const identifiersOf = (names: string[]) => names.map((value) => ({ type: 'dns', value }));
// Further on than this is none whose address was not written down.
const isOpen = ({ status }: AcmeOrder) => status === 'pending' || status === 'ready';
const isFor = ({ identifiers }: AcmeOrder, names: string[]) =>
  identifiers
    .map(({ value }) => value)
    .sort()
    .join() === [...names].sort().join();

function validatedBy({ challenges }: acme.Authorization, kind: ChallengeKind): ChallengeKind {
  const by = challenges.find(({ status }) => status === 'valid')?.type;
  return by === 'dns-01' || by === 'http-01' ? by : kind;
}
