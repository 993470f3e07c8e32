/**
 * A certificate authority (RFC 8555), one step per call: a crash can follow any of them, so callers save the result of
 * each. Nothing is retried here except after a rejected nonce.
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

/** The proof that one name of an order is ours. */
export type Challenge = {
  name: string;
  status: 'pending' | 'valid' | 'invalid';
  /** A TXT record, or a page over HTTP; `answer` is its content. */
  kind: ChallengeKind;
  token: string;
  answer: string;
  /** Why the authority rejected it. */
  refusal: AcmeRefused | undefined;
  challenge: acme.Authorization['challenges'][number];
};
export type ChallengeKind = 'dns-01' | 'http-01';

export type AcmeAccountKey = { key: string; url: string };

export type Authority = {
  directoryUrl: string;
  /** A new private key, as PEM. */
  newKey(): Promise<string>;
  /** The URL of the account with this key; the account is created if there is none. */
  register(key: string): Promise<string>;
  session(account: AcmeAccountKey): AcmeSession;
  /** When the authority wants this certificate renewed; undefined if it does not say. */
  renewalOf(chain: string): Promise<Renewal | undefined>;
};

export type AcmeSession = {
  /** `replaces` is the chain that the new certificate replaces. */
  createOrder(names: string[], replaces?: string): Promise<AcmeOrder>;
  /** An unfinished order for exactly these names: created before its URL could be saved. */
  findOrder(names: string[]): Promise<AcmeOrder | undefined>;
  readOrder(url: string): Promise<AcmeOrder>;
  /** The challenges of this kind, one for each name. Throws AcmeRefused if the authority does not offer it. */
  challenges(order: AcmeOrder, kind: ChallengeKind): Promise<Challenge[]>;
  /** Asks the authority to validate the challenge. */
  completeChallenge(proof: Challenge): Promise<void>;
  finalize(order: AcmeOrder, names: string[], key: string): Promise<void>;
  /** The whole chain as PEM, the certificate first. */
  download(order: AcmeOrder): Promise<string>;
};

type Settings = { directoryUrl: string; email: string; trusts: string };

const timeoutMs = 15_000;
const noncesMax = 4;
const ordersLookedAt = 10;

/** The library's settings are global, so one process uses one authority. */
export function openAuthority({ directoryUrl, email, trusts }: Settings, clock: Clock): Authority {
  configureLibrary(trusts, clock);
  const contact = email ? [`mailto:${email}`] : [];
  // Each client of the library reads the directory once, so clients are kept.
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
  // The library reuses the nonce of a failed request (an open issue there), and callers decide what to retry.
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

/** The library keeps only a refusal's message, so its kind is read here. It retries after a bad nonce itself. */
function checkResponse(answer: AcmeResponse, now: Date): AcmeResponse {
  if (answer.status < 400) return answer;
  const kind = kindOf(answer.data);
  if (kind === 'nonce' && answer.status === 400) return answer;
  const retryAfterMs = retryAfterOf(answer.headers['retry-after'], now);
  if (answer.status >= 500)
    throw new AcmeUnreachable(`the certificate authority responded with ${answer.status}`, retryAfterMs);
  throw new AcmeRefused(answer.status === 429 ? 'limit' : answer.status === 404 ? 'order' : kind, retryAfterMs);
}

/** Runs one or two requests of the library. Any other error that it throws counts as a lost connection. */
async function request<T>(act: () => Promise<T>): Promise<T> {
  for (let nonces = 0; ; nonces++) {
    try {
      return await act();
    } catch (error) {
      if (error instanceof AcmeRefused || error instanceof AcmeUnreachable) throw error;
      // The library gives up after several rejected nonces; nothing was done then.
      if (!isNonce(error))
        throw new AcmeUnreachable(`the request to the certificate authority failed: ${nameOf(error)}`);
      if (nonces === noncesMax) throw new AcmeUnreachable('the certificate authority rejected every nonce');
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
      // The library has no call for this list, so it is read like an order.
      const list = (await readOrder(orders)) as unknown as { orders?: string[] };
      for (const at of (list.orders ?? []).slice(-ordersLookedAt).reverse()) {
        const order = await readOrder(at);
        if (isOpen(order) && isFor(order, names)) return order;
      }
      return undefined;
    },
    async challenges(order, kind) {
      const found = await request(() => client.getAuthorizations(order));
      // An authorization that is valid from an earlier order may have been proved in another way.
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
// Orders in later states always have a saved URL.
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
