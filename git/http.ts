/** The sites' repositories over HTTP: git's smart protocol (gitprotocol-http(5)) under `/git/`. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { EntityManager } from '#db/orm.ts';
import type { Place } from '#providers/repositories/git.ts';
import { sweepRepository } from '#providers/repositories/leftovers.ts';
import type { Repositories } from '#providers/repositories.ts';
import type { SpawnedProcess } from '#providers/spawn-helper.ts';
import { planLimitsOf } from '#rules/plan-limits.ts';
import { type AccountSlotLimits, type AccountSlots, createAccountSlots } from '#runtime/account-slots.ts';
import { AppError } from '#runtime/errors.ts';
import { gitOperations } from '#runtime/telemetry/metrics.ts';
import type { PublishPush } from './accepted-pushes.ts';
import {
  GitRefusal,
  isStillGranted,
  noRepository,
  parseAddress,
  recordUse,
  refusalOrThrow,
  requireAccess,
  tooManyRunning,
} from './access.ts';
import { readAdvertisement } from './advertisement.ts';
import { nameBranches } from './branches.ts';
import { holdPush } from './hold-push.ts';
import { assertHookRuns } from './hook.ts';
import { refusalResponse } from './pkt-line.ts';
import { type GitDeps, type GitRequest, type PushContext, pushOf } from './receive.ts';
import { bodyOf, parseProtocol, parseService } from './request.ts';
import { readPlatformFiles } from './rules.ts';
import { drain, type GitWork, type Service, serveGit } from './serve.ts';
import type { GitTimeouts } from './timers.ts';

const defaultTimeouts: GitTimeouts = {
  idleMs: 60_000,
  workMs: 60_000,
  workMsPerMegabyte: 1000,
  slowMs: 60_000,
  bytesPerSecondMin: 8_192,
  askMs: 5_000,
};

const pushWork: GitWork = { cpuSeconds: 2, cpuSecondsPerMegabyte: 0.1, dataMebibytes: 100 };
// A clone of a repository that is not repacked yet compresses all of it.
const fetchWork: GitWork = { cpuSeconds: 60, cpuSecondsPerMegabyte: 0, dataMebibytes: 256 };

// The body of a fetch has a line of 50 bytes for each commit that the client has.
const fetchBytesMax = 16_777_216;

/** Adds the routes. They have their own body parsing, errors and authentication, and accept no bearer token. */
export function gitRoutes<App extends FastifyInstance>(app: App, deps: GitDeps, options: GitOptions = {}): void {
  assertHookRuns();
  const running = deps.config.gitSlots;
  const slots = createAccountSlots(
    { running, perAccount: Math.ceil(running / 2), waiting: 8 * running, waitMs: 20_000, ...options.concurrency },
    { refusal: tooManyRunning, counts: gitOperations },
  );
  const times = { ...defaultTimeouts, ...options.timeouts };
  const platform = readPlatformFiles();
  app.register(
    async (git) => {
      git.removeAllContentTypeParsers();
      for (const service of ['git-upload-pack', 'git-receive-pack']) {
        git.addContentTypeParser(`application/x-${service}-request`, (_request, payload, done) => done(null, payload));
      }
      git.setErrorHandler((error, request, reply) => answerError(deps, error, request, reply));
      git.setNotFoundHandler((request, reply) => answerError(deps, noRepository(), request, reply));
      git.get<Named & { Querystring: { service?: unknown } }>(
        '/:name/info/refs',
        { exposeHeadRoute: false, config: { operation: 'git.refs' } },
        async (request, reply) => {
          const service = parseService(request.query.service);
          const { place, owner, address } = await open(deps, request, service);
          if (service === 'git-receive-pack') await nameBranches(deps.repositories as Repositories, address);
          const release = await slots.acquire(owner);
          return advertise(place, service, parseProtocol(request), reply).finally(release);
        },
      );
      git.post<Named>('/:name/git-upload-pack', { config: { operation: 'git.fetch' } }, async (request, reply) => {
        const { place, owner, access } = await open(deps, request, 'git-upload-pack');
        return answer(slots, owner, request, reply, {
          service: 'git-upload-pack',
          dir: place.dir,
          protocol: parseProtocol(request),
          body: bodyOf(request),
          bodyBytesMax: fetchBytesMax,
          ...fetchRefusals,
          isStillAllowed: () => isStillGranted(access),
          timeouts: times,
          work: { ...fetchWork, ...options.work },
        });
      });
      git.post<Named>('/:name/git-receive-pack', { config: { operation: 'git.push' } }, async (request, reply) => {
        const { owner, ...opened } = await open(deps, request, 'git-receive-pack', options.publish);
        await sweepRepository(opened.place.dir);
        const work = { ...pushWork, ...options.work };
        const push = pushOf(deps, { ...opened, platform, body: bodyOf(request), times, work });
        return answer(slots, owner, request, reply, push);
      });
    },
    { prefix: '/git' },
  );
}

export type GitOptions = {
  /** Without it, no push is published. */
  publish?: PublishPush;
  timeouts?: Partial<GitTimeouts>;
  work?: Partial<GitWork>;
  concurrency?: Partial<AccountSlotLimits>;
};
type Named = { Params: { name: string } };

const fetchRefusals = {
  tooLarge: ['The fetch request lists too many commits. Clone the repository again.'],
  tooSlow: ['This fetch takes too much computing time. Fetch fewer commits at a time (git clone --depth=1).'],
};

/** `owner` is the account of the site, which slots are shared by. */
type Opened = Pick<PushContext, 'place' | 'address' | 'planLimits' | 'access' | 'hold' | 'isFirst' | 'mayPublish'> & {
  owner: string;
};

/** The repository at this address. Throws a GitRefusal if the caller may not use the service on it. */
async function open(
  deps: GitDeps,
  request: FastifyRequest<Named>,
  service: Service,
  publish?: PublishPush,
): Promise<Opened> {
  const { repositories } = deps;
  if (!repositories) throw new GitRefusal(503, 'This installation has no git repositories.');
  const address = parseAddress(request.params.name);
  const wanted = service === 'git-receive-pack' ? 'write' : 'read';
  const { authorization } = request.headers;
  const accessIn = (em: EntityManager) => requireAccess(em, deps.clock.now(), authorization, address, wanted);
  const access = () => accessIn(deps.em());
  const { site, by, actor, mayPublish } = await access();
  await recordUse(deps.em(), deps.clock.now(), authorization);
  if (!(await repositories.exists(address.siteId, address.repository))) throw noRepository();
  const place = repositories.place(address.siteId, address.repository);
  const isFirst = (await repositories.head(address.siteId, address.repository)) === null;
  return {
    place,
    isFirst,
    owner: site.account.id,
    address,
    access,
    mayPublish,
    hold: (push) => holdPush(deps, request, { address, actor, mayPublish, accessIn, publish, ...push }),
    planLimits: planLimitsOf(deps.config, site, deps.clock.now(), by),
  };
}

async function advertise(place: Place, service: Service, protocol: string | undefined, reply: FastifyReply) {
  const { raw } = reply;
  /** Ends git with its client. */
  function watch(child: SpawnedProcess): void {
    const end = () => child.kill('SIGKILL');
    raw.once('close', end);
    if (raw.destroyed) end();
  }
  const advertisement = await readAdvertisement({ ...place, watch }, service, protocol).catch((error: unknown) => {
    throw raw.destroyed ? new GitRefusal(400, 'The client disconnected.') : error;
  });
  return neverCached(reply).type(`application/x-${service}-advertisement`).send(advertisement);
}

/**
 * Streams git's output. The status is sent with the first chunk, so that a request which git cannot read gets an error
 * status.
 */
async function answer(
  slots: AccountSlots,
  owner: string,
  request: FastifyRequest,
  reply: FastifyReply,
  wanted: GitRequest,
): Promise<FastifyReply> {
  const type = `application/x-${wanted.service}-result`;
  const gone = new AbortController();
  const disconnected = () => {
    wanted.body.destroy(new Error('the client disconnected'));
    gone.abort();
  };
  reply.raw.on('close', () => reply.raw.writableFinished || disconnected());
  if (reply.raw.destroyed) disconnected();
  const release = await slots.acquire(owner).catch(refusalOrThrow);
  if (release instanceof GitRefusal) {
    await drain(wanted);
    return neverCached(reply).type(type).send(refusalResponse(wanted.service, release.message));
  }
  if (gone.signal.aborted) {
    release();
    throw new GitRefusal(400, 'The client disconnected while it waited.');
  }
  const pieces = serveGit({ ...wanted, disconnect: () => reply.raw.destroy(), signal: gone.signal, onExit: release });
  // Of a response whose client has gone nothing is read: its exchange would never end.
  gone.signal.addEventListener('abort', () => void pieces.return(undefined).catch(() => {}), { once: true });
  const first = await pieces.next().catch((error) => {
    request.log.warn({ err: error }, 'git did not respond');
    throw new GitRefusal(400, 'git could not read the complete request.');
  });
  async function* all() {
    if (first.done) return;
    yield first.value;
    yield* pieces;
  }
  return neverCached(reply).type(type).send(Readable.from(all()));
}

function neverCached(reply: FastifyReply): FastifyReply {
  return reply
    .header('cache-control', 'no-cache, max-age=0, must-revalidate')
    .header('x-content-type-options', 'nosniff');
}

function answerError(deps: GitDeps, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = error instanceof GitRefusal || error instanceof AppError ? error : undefined;
  const status = known?.status ?? statusOf(error);
  if (status >= 500 && !known) deps.log.error({ err: error, reqId: request.id }, 'a git request failed');
  if (known?.retryAfterSeconds !== undefined) reply.header('retry-after', known.retryAfterSeconds);
  if (status === 401) reply.header('www-authenticate', 'Basic realm="git", charset="UTF-8"');
  // The unread rest of the body would be parsed as the next request.
  if (request.method === 'POST') reply.header('connection', 'close');
  const message =
    known?.message ?? (status < 500 ? 'This is not a valid git request.' : 'An internal error occurred. Try again.');
  return neverCached(reply).code(status).type('text/plain; charset=utf-8').send(`${message}\n`);
}

function statusOf(error: unknown): number {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}
