/** From the decision on a push until git has moved its branches. */
import type { FastifyRequest } from 'fastify';
import type { EntityManager } from '#db/orm.ts';
import type { Repositories } from '#providers/repositories.ts';
import type { PublishPush } from './accepted-pushes.ts';
import {
  addAcceptedPush,
  completeAbandonedPushes,
  completePush,
  lockAcceptedPush,
  publishPushes,
} from './accepted-pushes.ts';
import { type Address, type Granted, holdAccess } from './access.ts';
import type { RefUpdate } from './push.ts';
import type { GitDeps } from './receive.ts';

export type Pushing = Pick<Granted, 'actor' | 'mayPublish'> & {
  address: Address;
  accessIn: (em: EntityManager) => Promise<Granted>;
  over: Promise<unknown>;
  pushId: string;
  updates: readonly RefUpdate[];
  publish: PublishPush | undefined;
};

/** Keeps the access from being revoked until the push is over, and records what it has moved. */
export async function holdPush(
  deps: GitDeps,
  request: Pick<FastifyRequest, 'id' | 'headers'>,
  { address, actor, mayPublish, accessIn, over, pushId, updates, publish }: Pushing,
): Promise<void> {
  const repositories = deps.repositories as Repositories;
  const log = deps.log.child({ reqId: request.id, ...address });
  const complete = () =>
    completeAbandonedPushes(deps.em(), deps.clock, repositories, address.siteId).catch((error: unknown) =>
      log.error({ err: error }, 'a push is not in the history yet; the next clean-up adds it'),
    );
  await complete();
  const pushed = { pushId, updates, mayPublish: mayPublish && publish !== undefined };
  const ids = await addAcceptedPush(deps.em(), deps.clock, actor, address, pushed);
  await holdAccess(deps.em(), request.headers.authorization, accessIn, {
    over,
    begin: (tx) => lockAcceptedPush(tx, ids),
    end: (tx) => completePush(tx, repositories, ids),
    async ended() {
      if (!publish || !pushed.mayPublish) return;
      await publishPushes(deps.em(), publish, address.siteId).catch((error: unknown) =>
        log.error({ err: error }, 'a push is not published yet; the next clean-up publishes it'),
      );
    },
    async failed(error) {
      log.warn({ err: error }, 'the connection of a push was lost');
      await complete();
    },
  });
}
