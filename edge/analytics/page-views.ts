/**
 * Counts page views of live sites, where they are answered. A request costs a few look-ups in memory; what was counted is written every
 * few seconds. What is written is all that this process has counted in the hour, so that writing it again changes nothing.
 */
import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { dateText, hourOf, later } from '#db/analytics/calendar.ts';
import { addToSketch } from '#db/analytics/hyperloglog.ts';
import { hoursKeptDays } from '#db/analytics/roll-up.ts';
import type { Answer } from '#edge/content/response.ts';
import type { VisitorRequest } from '#edge/http/request.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { openTallies, type Tally, viewRow } from './counters.ts';
import type { CountsDatabase } from './database.ts';
import { openReferrers } from './referrers.ts';
import { openSalts } from './salts.ts';
import type { Visitor, Visitors } from './visitors.ts';

export type Counting = {
  /** Notes an answer that was sent. */
  sent(request: VisitorRequest, answer: Answer, socket: Socket): void;
  /** Resolves when visitors are told apart as all edges do, or when that could not be learnt. */
  ready: Promise<void>;
  /** Writes what was counted until now. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

type Parts = {
  database: CountsDatabase;
  visitors: Visitors;
  clock: Clock;
  log: Logger;
  /** Makes hashes useless to who has the database alone. */
  secret: string;
  flushEveryMs?: number;
};

const tickEveryMs = 1_000;
const rowsAtOnce = 500;

export function openCounting({ database, visitors, clock, log, secret, flushEveryMs = 5_000 }: Parts): Counting {
  const tallies = openTallies();
  const referrers = openReferrers();
  const salts = openSalts({ database, secret });
  let hour = hourOf(clock.now());
  let isDown = false;
  let flushing = Promise.resolve();
  let waiting = 0;
  tallies.begin(hour);

  function sent(request: VisitorRequest, { head, siteId, page }: Answer, socket: Socket): void {
    if (siteId === undefined || page === undefined) return;
    if ((head.status !== 200 && head.status !== 304) || request.method !== 'GET' || !isLookedAt(request)) return;
    const visitor = visitors.of(request, socket);
    const tally = visitor && tallies.of(siteId);
    if (!visitor || !tally) return;
    tally.views += 1;
    tally.isNew = true;
    if (visitor.countedIn !== tally) countVisitor(visitor, tally);
    tallies.add(tally, 'pages', page);
    tallies.add(tally, 'devices', visitor.device);
    const referrer = referrers.of(request.fields);
    if (referrer !== undefined) tallies.add(tally, 'referrers', referrer);
    if (visitor.country !== undefined) tallies.add(tally, 'countries', visitor.country);
  }

  function countVisitor(visitor: Visitor, tally: Tally): void {
    const who = `${salts.key()}\n${tally.siteId}\n${visitor.address}\n${visitor.userAgent}`;
    addToSketch(tally.sketch, hash('sha256', who, 'buffer'));
    visitor.countedIn = tally;
  }

  /** Each second: a new hour begins, a new day has a new salt. */
  async function tick(): Promise<void> {
    const now = clock.now();
    const present = hourOf(now);
    if (present.getTime() !== hour.getTime()) {
      hour = present;
      tallies.begin(hour);
    }
    try {
      await salts.keep(now);
    } catch (err) {
      tell(err);
    }
  }

  async function write(): Promise<void> {
    const unwritten = tallies.unwritten();
    for (let start = 0; start < unwritten.length; start += rowsAtOnce) {
      const some = unwritten.slice(start, start + rowsAtOnce);
      // What is counted meanwhile is written the next time.
      for (const tally of some) tally.isNew = false;
      try {
        await database.write(some.map(viewRow));
      } catch (err) {
        for (const tally of some) tally.isNew = true;
        throw err;
      }
    }
  }

  async function flush(): Promise<void> {
    try {
      await write();
      if (isDown) log.info('what is counted can be written again');
      isDown = false;
    } catch (err) {
      tell(err);
    }
    tallies.forget(later(new Date(`${dateText(clock.now())}T00:00:00Z`), -hoursKeptDays * dayMs));
  }

  function tell(err: unknown): void {
    if (!isDown) log.warn({ err }, 'what is counted cannot be written: it is kept, and tried again');
    isDown = true;
  }

  /** One after the other. */
  async function flushInTurn(): Promise<void> {
    waiting += 1;
    flushing = flushing.then(flush);
    await flushing;
    waiting -= 1;
  }

  const ticking = setInterval(() => void tick(), tickEveryMs).unref();
  // A database that takes long is not asked by several at once.
  const timer = setInterval(() => waiting > 0 || void flushInTurn(), flushEveryMs).unref();

  return {
    sent,
    ready: tick(),
    flush: flushInTurn,
    async close() {
      clearInterval(ticking);
      clearInterval(timer);
      await flushInTurn();
    },
  };
}

/** A page that a browser fetches in case somebody may want it, or as a part of another one, is not looked at. */
function isLookedAt({ fields: { purpose, fetchDestination } }: VisitorRequest): boolean {
  if (purpose !== undefined && /prefetch|prerender|preview/i.test(purpose)) return false;
  // Sites that change pages without loading them anew ask with `empty`.
  return fetchDestination === undefined || fetchDestination === 'document' || fetchDestination === 'empty';
}
