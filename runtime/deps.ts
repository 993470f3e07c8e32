/** What every process is made of, wired on one screen. */
import { Client, Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import { type Exclusive, openExclusive } from '#db/advisory-lock.ts';
import { statementMs } from '#db/connections.ts';
import { sayCause } from '#db/context-header.ts';
import { type Changes, openChanges } from '#db/notifications.ts';
import { type EntityManager, type MikroORM, openOrm } from '#db/orm.ts';
import { type Billing, openBilling } from '#providers/billing.ts';
import type { Challenge } from '#providers/challenge/challenge.ts';
import { openChallenge } from '#providers/challenge.ts';
import { type Dns, openDns } from '#providers/dns.ts';
import { type Mailer, openMailer } from '#providers/mail.ts';
import { openPayments, type Payments } from '#providers/payments.ts';
import { openPhotos } from '#providers/photos/factory.ts';
import type { PhotoLibrary } from '#providers/photos.ts';
import { openRepositories, type Repositories } from '#providers/repositories.ts';
import { openStore } from '#providers/store/factory.ts';
import type { Store } from '#providers/store/store.ts';
import { openZones, type Zones } from '#providers/zones.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { openLog } from './log.ts';

export type Deps = {
  config: Config;
  clock: Clock;
  log: Logger;
  /** Aborted when the process is to end: it is not ready any more, and nobody waits longer. */
  leaving: AbortController;
  orm: MikroORM;
  /** A fresh entity manager: one for each request, activity or sweep. */
  em(): EntityManager;
  changes: Changes;
  exclusive: Exclusive;
  temporal: Client;
  store: Store;
  /** Absent in a deployment without stock photos. */
  photos: PhotoLibrary | undefined;
  /** Absent where no forms are taken. */
  challenge: Challenge | undefined;
  /** Absent where no money is taken for sites. */
  payments: Payments | undefined;
  dns: Dns;
  /** Absent where we hold no zones. */
  zones: Zones | undefined;
  /** Absent where nothing is metered. */
  billing: Billing | undefined;
  /** Absent where no mail is sent. */
  mailer: Mailer | undefined;
  /** Absent in a deployment that holds no repositories. */
  repositories: Repositories | undefined;
};

/** Opens everything lazily: a part that is down is noticed by the first that uses it. */
export function createDeps(
  config: Config,
  options: { name: string; clock?: Clock; log?: Logger },
): Deps & { close(): Promise<void> } {
  const log = options.log ?? openLog(config, options.name);
  const orm = openOrm(config.databaseUrl, { patienceMs: statementMs });
  const leaving = new AbortController();
  const changes = openChanges(config.databaseUrl, log, leaving.signal);
  const exclusive = openExclusive(config.databaseUrl, log);
  // Without the client's own retries: a retry that is due when the connection closes throws outside of every call, and each of
  // our callers tries again by itself.
  const connection = Connection.lazy({ address: config.temporal.address, interceptors: [] });
  const mailer = config.mail && openMailer(config.mail);
  const clock = options.clock ?? systemClock;
  return {
    config,
    clock,
    log,
    leaving,
    orm,
    em: () => orm.em.fork(),
    changes,
    exclusive,
    temporal: new Client({
      connection,
      namespace: config.temporal.namespace,
      interceptors: { workflow: [sayCause] },
    }),
    store: openStore(config),
    photos: openPhotos(config),
    challenge: config.challenge && openChallenge(config.challenge, clock),
    payments: config.payouts && openPayments(config.payouts),
    dns: openDns(config.dns),
    zones: config.zones && openZones(config.zones),
    billing: config.billing && openBilling(config.billing),
    mailer,
    repositories: config.repositoriesDir === undefined ? undefined : openRepositories(config.repositoriesDir),
    async close() {
      mailer?.close();
      await changes.close();
      await exclusive.close();
      await connection.close();
      await orm.close();
    },
  };
}
