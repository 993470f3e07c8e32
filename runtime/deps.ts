/** Dependencies of every process, and how they are created. */
import { Client, Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import { type AdvisoryLocks, openAdvisoryLocks } from '#db/advisory-lock.ts';
import { statementMs } from '#db/connections.ts';
import { contextHeaderInterceptor } from '#db/context-header.ts';
import { type Notifications, openNotifications } from '#db/notifications.ts';
import { type EntityManager, type MikroORM, openOrm } from '#db/orm.ts';
import { type Billing, openBilling } from '#providers/billing.ts';
import type { Challenge } from '#providers/challenge/challenge.ts';
import { openChallenge } from '#providers/challenge.ts';
import { type Dns, openDns } from '#providers/dns.ts';
import { type Mailer, openMailer } from '#providers/mail.ts';
import { openPayments, type Payments } from '#providers/payments.ts';
import { createPhotoLibrary } from '#providers/photos/factory.ts';
import type { PhotoLibrary } from '#providers/photos.ts';
import { openRepositories, type Repositories } from '#providers/repositories.ts';
import { createStore } from '#providers/store/factory.ts';
import type { Store } from '#providers/store/store.ts';
import { openZones, type Zones } from '#providers/zones.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { createLogger } from './log.ts';

export type Deps = {
  config: Config;
  clock: Clock;
  log: Logger;
  /** Aborted when the process shuts down: it reports not ready, and long polls end. */
  shutdown: AbortController;
  orm: MikroORM;
  /** A fresh entity manager: one for each request, activity or sweep. */
  em(): EntityManager;
  notifications: Notifications;
  locks: AdvisoryLocks;
  temporal: Client;
  store: Store;
  /** Absent if there are no stock photos. */
  photos: PhotoLibrary | undefined;
  /** Absent if forms are disabled. */
  challenge: Challenge | undefined;
  /** Absent if payments are disabled. */
  payments: Payments | undefined;
  dns: Dns;
  /** Absent if the platform hosts no DNS zones. */
  zones: Zones | undefined;
  /** Absent if billing is disabled. */
  billing: Billing | undefined;
  /** Absent if no mail is sent. */
  mailer: Mailer | undefined;
  /** Absent if there are no repositories. */
  repositories: Repositories | undefined;
};

/** Connects lazily: the first use of a dependency that is down fails. */
export function createDeps(
  config: Config,
  options: { name: string; clock?: Clock; log?: Logger; lockTimeoutMs?: number },
): Deps & { close(): Promise<void> } {
  const log = options.log ?? createLogger(config, options.name);
  const orm = openOrm(config.databaseUrl, { statementTimeoutMs: statementMs, lockTimeoutMs: options.lockTimeoutMs });
  const shutdown = new AbortController();
  const notifications = openNotifications(config.databaseUrl, log, shutdown.signal);
  const locks = openAdvisoryLocks(config.databaseUrl, log);
  // Without the client's retries: a retry that is due when the connection closes throws outside of any call. Our callers retry.
  const connection = Connection.lazy({ address: config.temporal.address, interceptors: [] });
  const mailer = config.mail && openMailer(config.mail);
  const clock = options.clock ?? systemClock;
  return {
    config,
    clock,
    log,
    shutdown,
    orm,
    em: () => orm.em.fork(),
    notifications,
    locks,
    temporal: new Client({
      connection,
      namespace: config.temporal.namespace,
      interceptors: { workflow: [contextHeaderInterceptor] },
    }),
    store: createStore(config),
    photos: createPhotoLibrary(config),
    challenge: config.challenge && openChallenge(config.challenge, clock),
    payments: config.payouts && openPayments(config.payouts),
    dns: openDns(config.dns),
    zones: config.zones && openZones(config.zones),
    billing: config.billing && openBilling(config.billing),
    mailer,
    repositories: config.repositoriesDir === undefined ? undefined : openRepositories(config.repositoriesDir),
    async close() {
      mailer?.close();
      await notifications.close();
      await locks.close();
      await connection.close();
      await orm.close();
    },
  };
}
