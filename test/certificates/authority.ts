/**
 * An authority that stamps by the test's clock (RFC 8555, RFC 9773), for time that is skipped and for faults at every step. It holds clients to
 * the protocol: nonces are used once, requests are signed by the account's key for their own address, and nothing is issued unproved.
 */
import { randomBytes, webcrypto } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as x509 from '@peculiar/x509';
import { createIssuer } from './issuer.ts';
import { hash, openSigning, Problem, type Signed } from './signing.ts';

type Status = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
export type PlacedOrder = {
  id: string;
  names: string[];
  status: Status;
  at: Date;
  replaces: string | undefined;
  proofs: { id: string; name: string; token: string; status: Status; problem?: string }[];
  chain?: string;
};
/** What is to be seen: a page with this content, or a record with its hash. */
export type Seen = { name: string; kind: 'http-01' | 'dns-01'; token: string; answer: string };
/** A step, by the last word of its address. */
export type Step = 'nonce' | 'account' | 'order' | 'proof' | 'challenge' | 'finalize' | 'certificate' | 'read';
type Fault = { at: Step; do: 'drop before' | 'drop after' | { status: number; type: string; retryAfter?: string } };
export type Options = {
  clock: { now(): Date };
  days?: number;
  /** The name of what is wrong, if it cannot see it. */
  validate(seen: Seen): Promise<string | undefined>;
  /** When it wants a certificate renewed, if it says so. */
  renewal?: (notBefore: Date, notAfter: Date) => { start: Date; end: Date };
};

const newId = () => randomBytes(9).toString('hex');

export async function startTestAuthority({ clock, days = 90, validate, renewal }: Options) {
  const issuer = await createIssuer(clock.now());
  const { newNonce, accounts, readSigned } = openSigning(() => url);
  const orders: PlacedOrder[] = [];
  const faults: Fault[] = [];
  let url = '';

  const viewOf = (order: PlacedOrder) => ({
    status: order.status,
    identifiers: order.names.map((value) => ({ type: 'dns', value })),
    authorizations: order.proofs.map(({ id }) => `${url}/proof/${id}`),
    finalize: `${url}/finalize/${order.id}`,
    ...(order.chain ? { certificate: `${url}/certificate/${order.id}` } : {}),
  });
  const proofView = ({ name, status, token, id, problem }: PlacedOrder['proofs'][number]) => ({
    identifier: { type: 'dns', value: name.replace(/^\*\./, '') },
    status,
    ...(name.startsWith('*.') ? { wildcard: true } : {}),
    challenges: (name.startsWith('*.') ? ['dns-01'] : ['http-01', 'dns-01']).map((type) => ({
      type,
      token,
      status,
      url: `${url}/challenge/${id}.${type}`,
      ...(problem ? { error: { type: `urn:ietf:params:acme:error:${problem}` } } : {}),
    })),
  });

  type Answered = { status: number; body: unknown; location?: string };
  const orderOf = (id: string) => {
    const order = orders.find((one) => one.id === id);
    if (!order) throw new Problem(404, 'malformed');
    return order;
  };
  const proofOf = (id: string) => {
    const order = orders.find(({ proofs }) => proofs.some((one) => one.id === id));
    const proof = order?.proofs.find((one) => one.id === id);
    if (!order || !proof) throw new Problem(404, 'malformed');
    return { order, proof };
  };

  const steps: Record<string, (id: string, said: Signed) => Promise<Answered> | Answered> = {
    account(id, { signer }) {
      const kid = id ? `${url}/account/${id}` : `${url}/account/${signer.thumbprint}`;
      const isNew = !accounts.has(kid);
      accounts.set(kid, signer);
      return { status: isNew ? 201 : 200, location: kid, body: { status: 'valid', orders: `${url}/read/orders` } };
    },
    read: () => ({ status: 200, body: { orders: orders.map(({ id }) => `${url}/order/${id}`) } }),
    order(id, { payload }) {
      if (id) return { status: 200, body: viewOf(orderOf(id)) };
      const names: string[] = payload.identifiers.map(({ value }: { value: string }) => value);
      const proofs = names.map((name) => ({
        id: newId(),
        name,
        token: randomBytes(24).toString('base64url'),
        status: 'pending' as const,
      }));
      if (payload.replaces && !issuedAs(payload.replaces)) throw new Problem(404, 'malformed');
      if (payload.replaces && orders.some(({ replaces }) => replaces === payload.replaces))
        throw new Problem(409, 'alreadyReplaced');
      const order: PlacedOrder = {
        id: newId(),
        names,
        status: 'pending',
        at: clock.now(),
        replaces: payload.replaces,
        proofs,
      };
      orders.push(order);
      return { status: 201, location: `${url}/order/${order.id}`, body: viewOf(order) };
    },
    proof: (id) => ({ status: 200, body: proofView(proofOf(id).proof) }),
    async challenge(at, { signer }) {
      const [id = '', kind] = at.split('.') as [string, Seen['kind']];
      const { order, proof } = proofOf(id);
      const whole = `${proof.token}.${signer.thumbprint}`;
      const answer = kind === 'dns-01' ? hash(whole) : whole;
      const problem = await validate({ name: proof.name, kind, token: proof.token, answer });
      proof.status = problem ? 'invalid' : 'valid';
      if (problem) proof.problem = problem;
      if (order.proofs.some(({ status }) => status === 'invalid')) order.status = 'invalid';
      else if (order.proofs.every(({ status }) => status === 'valid')) order.status = 'ready';
      return {
        status: 200,
        body: { type: kind, url: `${url}/challenge/${at}`, token: proof.token, status: proof.status },
      };
    },
    async finalize(id, { payload }) {
      const order = orderOf(id);
      if (order.status !== 'ready') throw new Problem(403, 'orderNotReady');
      const request = new x509.Pkcs10CertificateRequest(Buffer.from(payload.csr, 'base64url'));
      const publicKey = await request.publicKey.export(webcrypto as never);
      const now = clock.now();
      order.chain = await issuer.issue(
        order.names,
        publicKey as never,
        now,
        new Date(now.getTime() + days * 86_400_000),
      );
      order.status = 'valid';
      return { status: 200, body: viewOf(order) };
    },
    certificate: (id) => ({ status: 200, body: orderOf(id).chain }),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, name = '', id = ''] = (request.url ?? '').split('/');
    const step = (name === 'order' && id) || name === 'read' ? 'read' : (name as Step);
    const fault = faults.findIndex(({ at }) => at === step);
    const [met] = fault < 0 ? [] : faults.splice(fault, 1);
    if (met?.do === 'drop before') return void request.socket.destroy();
    try {
      if (met && typeof met.do === 'object') {
        if (met.do.retryAfter) response.setHeader('retry-after', met.do.retryAfter);
        throw new Problem(met.do.status, met.do.type);
      }
      if (request.method !== 'POST') return open(name, id, response);
      const { status, body, location } = (await steps[name]?.(id, await readSigned(request))) ?? {
        status: 404,
        body: {},
      };
      if (met?.do === 'drop after') return void request.socket.destroy();
      if (location) response.setHeader('location', location);
      say(response, status, body);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      say(response, error.status, {
        type: `urn:ietf:params:acme:error:${error.type}`,
        detail: 'words of the authority',
      });
    }
  }

  /** What is asked without a signature. */
  function open(name: string, id: string, response: ServerResponse): void {
    if (name === 'nonce') say(response, 200, undefined);
    else if (name === 'renewal') sayRenewal(id, response);
    else sayDirectory(response);
  }

  function sayDirectory(response: ServerResponse): void {
    const at = (step: string) => `${url}/${step}`;
    const directory = { newNonce: at('nonce'), newAccount: at('account'), newOrder: at('order') };
    say(response, 200, { ...directory, ...(renewal ? { renewalInfo: at('renewal') } : {}) });
  }

  /** Of its own certificates, the one with this identifier (RFC 9773 section 4.1). */
  function issuedAs(id: string): x509.X509Certificate | undefined {
    const serial = Buffer.from(id.split('.')[1] ?? '', 'base64url')
      .toString('hex')
      .replace(/^00/, '');
    return orders
      .flatMap(({ chain }) => (chain ? [new x509.X509Certificate(chain)] : []))
      .find((one) => one.serialNumber === serial);
  }

  function sayRenewal(id: string, response: ServerResponse): void {
    const found = issuedAs(id);
    response.setHeader('retry-after', '86400');
    if (!found || !renewal) say(response, 404, {});
    else say(response, 200, { suggestedWindow: renewal(found.notBefore, found.notAfter) });
  }

  function say(response: ServerResponse, status: number, body: unknown): void {
    const type = status >= 400 ? 'application/problem+json' : 'application/json';
    response.writeHead(status, {
      'replay-nonce': newNonce(),
      'content-type': typeof body === 'string' ? 'application/pem-certificate-chain' : type,
    });
    response.end(typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body));
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    root: issuer.root,
    orders,
    /** Happens at the next such step, once. */
    faults,
    /** Forgets accounts and orders, as Pebble does when it starts. */
    forget() {
      accounts.clear();
      orders.length = 0;
    },
    env: { FRONTAGE_ACME_URL: `${url}/directory`, FRONTAGE_ACME_CA: '', FRONTAGE_ACME_TERMS: 'agreed' },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type TestAuthority = Awaited<ReturnType<typeof startTestAuthority>>;
