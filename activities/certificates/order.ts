/** An ACME order, from its row to its certificate (RFC 8555 section 7.4). After a crash at any line, the next worker continues from the row. */
import { createPublicKey } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { noOrder, noProblem, readChain, renewalTime } from '#db/certificates/transitions.ts';
import { contextOf } from '#db/encrypted-columns.ts';
import { AcmeRefused } from '#providers/acme/refusal.ts';
import type { AcmeOrder } from '#providers/acme.ts';
import { hourMs } from '#rules/time.ts';
import { decrypt, encrypt } from '#runtime/encryption.ts';
import { cleanUpChallenges, publishChallenges } from './challenge.ts';
import { NotReady, type RenewalContext } from './context.ts';
import { preflight } from './preflight.ts';

const pollForMs = 60_000;
const orderMaxAgeMs = 3 * 24 * hourMs;

/** Issues the certificate. Throws NotReady, AcmeRefused or AcmeUnreachable. */
export async function issue(work: RenewalContext): Promise<void> {
  let order = await resumeOrCreateOrder(work);
  if (order.status === 'pending') order = await completeChallenges(work, order);
  const key = orderKeyOf(work);
  if (order.status === 'ready') {
    await work.save({ status: 'issuing' });
    await work.session.finalize(order, work.request.names, key);
    order = await poll(work, order, (status) => status !== 'ready' && status !== 'processing');
  } else if (order.status === 'processing') order = await poll(work, order, (status) => status !== 'processing');
  if (order.status !== 'valid') throw new AcmeRefused('other');
  await install(work, await work.session.download(order), key);
  await cleanUpChallenges(work);
}

/** The current order, or a new one. The row is saved before the order is created, its URL as soon as it is known. */
async function resumeOrCreateOrder(work: RenewalContext): Promise<AcmeOrder> {
  const { deps, certificate, session, request } = work;
  const { orderOpenedAt, orderUrl } = certificate;
  if (orderOpenedAt && deps.clock.now().getTime() - orderOpenedAt.getTime() > orderMaxAgeMs)
    throw new AcmeRefused('order');
  if (orderUrl) return await session.readOrder(orderUrl);
  // After a crash between the two, the authority may have the order.
  const begun = orderOpenedAt ? await session.findOrder(request.names) : undefined;
  if (begun) {
    await work.save({ orderUrl: begun.url });
    return begun;
  }
  await work.save({ status: 'validating' });
  await preflight(work);
  if (!certificate.orderKey) {
    const orderKey = encrypt(
      deps.config.encryptionKeys,
      await deps.authority.newKey(),
      contextOf.certificateOrder(certificate.id),
    );
    await work.save({ orderKey, orderOpenedAt: deps.clock.now() });
    Object.assign(certificate, { orderKey });
  }
  const order = await createOrder(work);
  await work.save({ orderUrl: order.url });
  return order;
}

/**
 * `replaces` is only a hint to the authority: if it refuses it (another authority's, another account's, or already replaced), order without.
 */
async function createOrder({
  session,
  request: { names },
  certificate: { chain },
}: RenewalContext): Promise<AcmeOrder> {
  if (!chain) return await session.createOrder(names);
  try {
    return await session.createOrder(names, chain);
  } catch (error) {
    if (!(error instanceof AcmeRefused) || error.kind === 'limit' || error.kind === 'account') throw error;
    return await session.createOrder(names);
  }
}

/** Publishes the pending challenges, has the authority validate them, and returns the order once it is not pending. */
async function completeChallenges(work: RenewalContext, order: AcmeOrder): Promise<AcmeOrder> {
  const { session, request } = work;
  const proofs = await session.challenges(order, request.validation.kind);
  const pending = proofs.filter(({ status }) => status === 'pending');
  await publishChallenges(work, pending);
  for (const proof of pending) if (proof.challenge.status === 'pending') await session.completeChallenge(proof);
  const settled = await poll(work, order, (status) => status !== 'pending');
  if (settled.status !== 'invalid') return settled;
  const refused = (await session.challenges(order, request.validation.kind)).find((proof) => proof.refusal)?.refusal;
  throw refused ?? new AcmeRefused('other');
}

async function poll(
  { session }: RenewalContext,
  order: AcmeOrder,
  until: (status: string) => boolean,
): Promise<AcmeOrder> {
  const end = performance.now() + pollForMs;
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 2_000)) {
    const current = await session.readOrder(order.url);
    if (until(current.status)) return current;
    if (performance.now() > end)
      throw new NotReady('The certificate authority is taking longer than usual.', 'platform');
    await pause(waitMs);
  }
}

function orderKeyOf({ deps, certificate: { id, orderKey } }: RenewalContext): string {
  if (!orderKey) throw new Error(`the order for certificate ${id} has no key`);
  return decrypt(deps.config.encryptionKeys, orderKey, contextOf.certificateOrder(id)).toString();
}

/** A certificate that does not match its order is never served; it ends the order like a refusal. */
function readValidChain(chain: string, names: string[], publicKey: string, now: Date): ReturnType<typeof readChain> {
  const read = attempt(() => readChain(chain, names, publicKey));
  if (!read || read.notAfter <= now) throw new AcmeRefused('other');
  return read;
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** Edges serve the new certificate after this update. */
async function install(
  { deps, request, certificate, save }: RenewalContext,
  chain: string,
  key: string,
): Promise<void> {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' }) as string;
  const now = deps.clock.now();
  const { notBefore, notAfter } = readValidChain(chain, request.names, publicKey, now);
  const isGapless = certificate.notAfter && certificate.notAfter > now;
  await save({
    chain,
    sealedKey: encrypt(deps.config.encryptionKeys, key, contextOf.certificate(certificate.id)),
    notBefore,
    notAfter,
    renewAt: renewalTime({ notBefore, notAfter }, Math.random(), now),
    askAt: new Date(now.getTime() + 12 * hourMs),
    healthySince: isGapless ? (certificate.healthySince ?? now) : now,
    status: 'active',
    ...noProblem,
    refusals: 0,
    looks: 0,
    nextTryAt: null,
    ...noOrder,
  });
}
