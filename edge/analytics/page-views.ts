/**
 * Counts page views of live sites at the edge. A request costs a few look-ups in memory; counts are saved every few seconds. A row has
 * the absolute counts of this process and hour, so saving it again changes nothing.
 */
import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { dateText, hourOf, later } from '#db/analytics/calendar.ts';
import { addToSketch } from '#db/analytics/hyperloglog.ts';
import { hoursKeptDays } from '#db/analytics/roll-up.ts';
import type { EdgeResponse } from '#edge/content/response.ts';
import type { VisitorRequest } from '#edge/http/request.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { createCounters, type SiteCounter, viewRow } from './counters.ts';
import type { ViewsDatabase } from './database.ts';
import { createReferrers } from './referrers.ts';
import { createSalts } from './salts.ts';
import type { Visitor, Visitors } from './visitors.ts';

export type PageViews = {
  /** Counts a sent response. */
  sent(request: VisitorRequest, answer: EdgeResponse, socket: Socket): void;
  /** Resolves when the day's salt is loaded, or could not be. */
  ready: Promise<void>;
  /** Saves the counts. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

type Parts = {
  database: ViewsDatabase;
  visitors: Visitors;
  clock: Clock;
  log: Logger;
  /** Makes visitors' hashes useless without it, for example in a leaked database. */
  secret: string;
  flushEveryMs?: number;
};

const tickEveryMs = 1_000;
const rowsAtOnce = 500;

export function openPageViews({ database, visitors, clock, log, secret, flushEveryMs = 5_000 }: Parts): PageViews {
  const counters = createCounters();
  const referrers = createReferrers();
  const salts = createSalts({ database, secret });
  let hour = hourOf(clock.now());
  let isDown = false;
  let flushing = Promise.resolve();
  let waiting = 0;
  counters.begin(hour);

  function sent(request: VisitorRequest, { head, siteId, page }: EdgeResponse, socket: Socket): void {
    if (siteId === undefined || page === undefined) return;
    if ((head.status !== 200 && head.status !== 304) || request.method !== 'GET' || !isView(request)) return;
    const visitor = visitors.of(request, socket);
    const counter = visitor && counters.of(siteId);
    if (!visitor || !counter) return;
    counter.views += 1;
    counter.isNew = true;
    if (visitor.countedIn !== counter) addVisitor(visitor, counter);
    counters.add(counter, 'pages', page);
    counters.add(counter, 'devices', visitor.device);
    const referrer = referrers.of(request.fields);
    if (referrer !== undefined) counters.add(counter, 'referrers', referrer);
    if (visitor.country !== undefined) counters.add(counter, 'countries', visitor.country);
  }

  function addVisitor(visitor: Visitor, counter: SiteCounter): void {
    const who = `${salts.key()}\n${counter.siteId}\n${visitor.address}\n${visitor.userAgent}`;
    addToSketch(counter.sketch, hash('sha256', who, 'buffer'));
    visitor.countedIn = counter;
  }

  /** Each second: checks for a new hour and a new day's salt. */
  async function tick(): Promise<void> {
    const now = clock.now();
    const present = hourOf(now);
    if (present.getTime() !== hour.getTime()) {
      hour = present;
      counters.begin(hour);
    }
    try {
      await salts.refresh(now);
    } catch (err) {
      logOutage(err);
    }
  }

  async function write(): Promise<void> {
    const unwritten = counters.unsaved();
    for (let start = 0; start < unwritten.length; start += rowsAtOnce) {
      const some = unwritten.slice(start, start + rowsAtOnce);
      // Counts during the write are saved next time.
      for (const counter of some) counter.isNew = false;
      try {
        await database.write(some.map(viewRow));
      } catch (err) {
        for (const counter of some) counter.isNew = true;
        throw err;
      }
    }
  }

  async function flush(): Promise<void> {
    try {
      await write();
      if (isDown) log.info('page views are being saved again');
      isDown = false;
    } catch (err) {
      logOutage(err);
    }
    counters.forget(later(new Date(`${dateText(clock.now())}T00:00:00Z`), -hoursKeptDays * dayMs));
  }

  function logOutage(err: unknown): void {
    if (!isDown) log.warn({ err }, 'page views cannot be saved; retrying');
    isDown = true;
  }

  /** Serialises flushes. */
  async function flushInTurn(): Promise<void> {
    waiting += 1;
    flushing = flushing.then(flush);
    await flushing;
    waiting -= 1;
  }

  const ticking = setInterval(() => void tick(), tickEveryMs).unref();
  // Skips a flush while one is running.
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

/** Whether a person views the page. Prefetches and embedded pages do not count. */
function isView({ fields: { purpose, fetchDestination } }: VisitorRequest): boolean {
  if (purpose !== undefined && /prefetch|prerender|preview/i.test(purpose)) return false;
  // Client-side navigation fetches pages with `empty`.
  return fetchDestination === undefined || fetchDestination === 'document' || fetchDestination === 'empty';
}
