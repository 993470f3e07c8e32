/** Who may fetch from and push to a repository: Basic credentials of that one repository (RFC 7617). */

import { createHash, timingSafeEqual } from 'node:crypto';
import { GitCredential } from '#db/auth/git-credential.ts';
import { isMember, roleOn } from '#db/collaborators/membership.ts';
import type { ActedBy } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { call, renderCalls } from '#rules/calls/calls.ts';
import type { GitAccess, Repository, Role } from '#rules/states.ts';
import { minuteMs } from '#rules/time.ts';
import { isId } from '#runtime/ids.ts';

/** A refusal as git expects it: a status, and a line of plain text that git prints after `remote:`. */
export class GitRefusal extends Error {
  readonly status: 400 | 401 | 403 | 404 | 429 | 503;
  /** When to retry. */
  readonly retryAfterSeconds: number | undefined;
  constructor(status: GitRefusal['status'], message: string, retryAfterSeconds?: number) {
    super(renderCalls(message, 'http'));
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const slotRetrySeconds = 10;

export function tooManyRunning(): GitRefusal {
  const message = `Too many clones and pushes are running. Wait ${slotRetrySeconds} s, then try again.`;
  return new GitRefusal(503, message, slotRetrySeconds);
}

/** Returns a refusal; rethrows any other error. */
export function refusalOrThrow(error: unknown): GitRefusal {
  if (error instanceof GitRefusal) return error;
  throw error;
}

/** False if the access has been revoked since it was granted. */
export async function isStillGranted(access: () => Promise<unknown>): Promise<boolean> {
  return !((await access().catch(refusalOrThrow)) instanceof GitRefusal);
}

/** A repository as its address names it: `<site id>.git` or `<site id>.content.git`. */
export type Address = { siteId: string; repository: Repository };

const howToGetPassword = `Call ${call('source.credential')} to create a user name and a password.`;

/** Parses the part of the address after `/git/`. Throws a 404 that does not say why. */
export function parseAddress(name: string): Address {
  const match = /^(site_[0-9a-z]{26})(\.content)?\.git$/.exec(name);
  const siteId = match?.[1];
  if (siteId === undefined || !isId('site', siteId)) throw noRepository();
  return { siteId, repository: match?.[2] ? 'content' : 'source' };
}

export function noRepository(): GitRefusal {
  return new GitRefusal(404, 'This password does not give access to the repository at this address.');
}

/** Passwords are random and long, so a plain hash is enough. */
function passwordHash(password: string): Buffer {
  return createHash('sha256').update(password).digest();
}

/** `mayPublish`: whether a push may be published. */
export type Granted = { site: Site; by: Role; actor: ActedBy; mayPublish: boolean };

/**
 * Throws a GitRefusal unless the header's credential grants this access to this repository now. Returns the site, the
 * caller's role, and the caller for the history.
 */
export async function requireAccess(
  em: EntityManager,
  now: Date,
  authorization: string | undefined,
  { siteId, repository }: Address,
  wanted: GitAccess,
): Promise<Granted> {
  const { username, password } = parseBasic(authorization);
  const credential = await em.findOne(GitCredential, { username }, { populate: ['site'] });
  if (!credential || !timingSafeEqual(passwordHash(password), credential.hash)) {
    const token = password.startsWith('fro_') ? ' A bearer token cannot be used as a git password.' : '';
    throw new GitRefusal(401, `Unknown user name or wrong password.${token} ${howToGetPassword}`);
  }
  if (credential.expiresAt <= now) throw new GitRefusal(401, `This password has expired. ${howToGetPassword}`);
  if (credential.blockReason != null) {
    throw new GitRefusal(403, `The account has been blocked by the operator. Reason: ${credential.blockReason}`);
  }
  const site = credential.site as Site;
  if (!(await isMember(em, site, credential.account.id))) {
    throw new GitRefusal(401, 'The account that created this password no longer has access to the site.');
  }
  if (site.id !== siteId || credential.repository !== repository) throw noRepository();
  const granted = {
    site,
    by: roleOn(site, credential.account.id),
    actor: { accountId: credential.account.id, via: { kind: 'git', name: credential.makerName ?? null } },
    mayPublish: credential.publish,
  } as const;
  if (wanted === 'read') return granted;
  if (credential.access !== 'write') {
    throw new GitRefusal(403, 'This password is read-only. To push, create a password with "access": "write".');
  }
  requireActive(site);
  return granted;
}

function requireActive({ id, name, status, deleteAt }: Site): void {
  if (status !== 'archived') return;
  const [state, remedy] = deleteAt
    ? ['being deleted', `${call('site.restore', { id })}, then ${call('site.unarchive', { id })}`]
    : ['archived', `${call('site.unarchive', { id })} first`];
  throw new GitRefusal(403, `The site ${name} is ${state} and does not accept pushes. Call ${remedy}.`);
}

/** Records the use of the header's credential, at most once a minute. The access has been granted. */
export async function recordUse(em: EntityManager, now: Date, authorization: string | undefined): Promise<void> {
  const { username } = parseBasic(authorization);
  const before = new Date(now.getTime() - minuteMs);
  const isOlder = { $or: [{ lastUsedAt: null }, { lastUsedAt: { $lte: before } }] };
  await em.nativeUpdate(GitCredential, { username, ...isOlder }, { lastUsedAt: now });
}

type Holding = {
  over: Promise<unknown>;
  /** Runs in the transaction that holds the credential: `begin` before the answer, `end` after `over`. */
  begin: (tx: EntityManager) => Promise<void>;
  end: (tx: EntityManager) => Promise<void>;
  /** Called when the transaction is committed. */
  ended: () => Promise<void>;
  /** Called when the transaction has failed after the answer, for example because its connection was lost. */
  failed: (error: unknown) => Promise<void>;
};

/**
 * Resolves when the header's credential cannot be revoked any more before `over` settles: a revocation then waits for
 * it. Rejects with a GitRefusal if `access` does, or if the credential was revoked.
 */
export async function holdAccess(
  em: EntityManager,
  authorization: string | undefined,
  access: (em: EntityManager) => Promise<Granted>,
  { over, begin, end, ended: committed, failed }: Holding,
): Promise<void> {
  const { username } = parseBasic(authorization);
  const held = Promise.withResolvers<void>();
  const ended = over.catch(() => {});
  const holding = em.transactional(async (tx) => {
    // Only a deletion conflicts with this lock.
    await tx.execute('select 1 from git_credential where username = ? for key share', [username]);
    await access(tx);
    await begin(tx);
    held.resolve();
    await ended;
    await end(tx);
  });
  holding.catch(held.reject);
  await held.promise;
  // git moves the branches whatever happens to this transaction.
  void holding.then(committed, async (error: unknown) => {
    await ended;
    await failed(error);
  });
}

function parseBasic(authorization: string | undefined): { username: string; password: string } {
  const [scheme = '', encoded = ''] = authorization?.split(' ') ?? [];
  if (scheme.toLowerCase() === 'bearer') {
    throw new GitRefusal(401, `A bearer token does not give access to a repository. ${howToGetPassword}`);
  }
  const text = scheme.toLowerCase() === 'basic' ? Buffer.from(encoded, 'base64').toString('utf8') : '';
  const colon = text.indexOf(':');
  if (colon < 1) throw new GitRefusal(401, howToGetPassword);
  const username = text.slice(0, colon);
  // PostgreSQL's text cannot contain NUL.
  if (username.includes('\0')) throw new GitRefusal(401, howToGetPassword);
  return { username, password: text.slice(colon + 1) };
}
