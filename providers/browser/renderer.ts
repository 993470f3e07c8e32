/**
 * Shows versions of sites in Chromium. A process shows one version and is used for no other; the next one starts ahead, so
 * a picture does not wait for it. One page is shown at a time, and accounts take turns. All of it gives way to builds.
 */
import { randomBytes } from 'node:crypto';
import { type ControlGroups, findControlGroups } from '#providers/sandbox/cgroups.ts';
import { type OpenPage, openPage, openTab, type Tab, type Visit } from './page.ts';
import { BrowserFault } from './pipe.ts';
import { type Chromium, startChromium } from './process.ts';
import { createTurns } from './turns.ts';
import { findChromium, type WallKind } from './wall.ts';

/** `isAsked`: whether a call asked for it. */
export type VisitLimits = { timeoutMs: number; signal: AbortSignal; isAsked: boolean };
export type Renderer = {
  wall: WallKind;
  product: string;
  /** Opens the page, and closes it after `act`. Throws BrowserFault if the page does not let itself be shown in time. */
  visit<T>(visit: Visit, limits: VisitLimits, act: (page: OpenPage) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};
export type RendererOptions = {
  chromium: string;
  owner: string;
  warn: (text: string) => void;
  /** Resolves when what is more urgent on this machine has ended, or after `forMs`. */
  giveWay?: (forMs: number) => Promise<void>;
};

const keptMs = 20_000;
const spareMs = 300_000;
/** About a build. Many of them delay each page by so much. */
const giveWayMs = 6_000;

/** Tries the walls, the stricter first. Rejects with one sentence if there is no Chromium, or none that works here. */
export async function openRenderer({
  chromium,
  owner,
  warn,
  giveWay = async () => {},
}: RendererOptions): Promise<Renderer> {
  const program = findChromium(chromium);
  if (program === undefined)
    throw new Error(`There is no Chromium ${chromium ? `at ${chromium}` : 'on this machine'}.`);
  if (process.platform !== 'linux') throw new Error('Chromium is enclosed with bubblewrap, which is a part of Linux.');
  const groups = await findControlGroups(`${owner}-browser`);
  for (const group of await groups.list()) await group.remove();
  const first = await startBehind('nested').catch(async (error: Error) => {
    warn(`Chromium cannot enclose its renderers on this machine; the outer wall stays. ${error.message}`);
    return await startBehind('outer');
  });
  if (!groups.limited) warn('Control groups are not available here: a browser has no limit on memory.');

  async function startBehind(kind: WallKind) {
    return { kind, browser: await start(groups, program as string, kind) };
  }
  return createRenderer(first.browser, first.kind, {
    start: () => start(groups, program, first.kind),
    giveWay: () => giveWay(giveWayMs),
    close: groups.close,
  });
}

function start(groups: ControlGroups, program: string, kind: WallKind): Promise<Chromium> {
  return startChromium({ program, kind, groups, name: randomBytes(6).toString('hex') });
}

/** A browser with an empty tab, which is opened ahead. */
type Ready = { browser: Chromium; tab: Promise<Tab> };

function readied(browser: Chromium): Ready {
  const tab = openTab(browser);
  tab.catch(ignore);
  return { browser, tab };
}

type Hands = { start(): Promise<Chromium>; giveWay(): Promise<void>; close(): Promise<void> };

function createRenderer(first: Chromium, wall: WallKind, { start, giveWay, close }: Hands): Renderer {
  const inTurn = createTurns();
  /** For the next version. */
  const spare = createShelf<Promise<Ready>>(
    spareMs,
    (ready) => void ready.then(({ browser }) => browser.kill(), ignore),
  );
  /** Stays for more pictures of the same version. */
  const kept = createShelf<Ready & { key: string }>(keptMs, ({ browser }) => void browser.kill());
  let closed = false;
  let active: Chromium | undefined;
  spare.put(Promise.resolve(readied(first)));

  async function take(key: string): Promise<Ready> {
    const mine = kept.take();
    if (mine?.key === key && !mine.browser.hasEnded()) return mine;
    await mine?.browser.kill();
    const ahead = await spare.take()?.catch(() => undefined);
    return ahead && !ahead.browser.hasEnded() ? ahead : readied(await start());
  }

  function prepare(): void {
    if (closed || !spare.isEmpty()) return;
    const next = startLater().then(readied);
    next.catch(ignore);
    spare.put(next);
  }

  async function startLater(): Promise<Chromium> {
    await giveWay();
    if (closed) throw new Error('The browser is closed.');
    return await start();
  }

  async function visit<T>(
    one: Visit,
    { timeoutMs, signal }: VisitLimits,
    act: (page: OpenPage) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    if (closed) throw new Error('The browser is closed.');
    const { browser, tab: opening } = await take(one.version.key);
    active = browser;
    const tab = await opening.catch(async (error: unknown) => {
      await browser.kill();
      // No page is to blame, so the work is tried again.
      throw new Error(`The browser opened no tab: ${String(error)}`);
    });
    const end = (why: string) => browser.close(new BrowserFault(why));
    const late = setTimeout(end, timeoutMs, `The page was not shown within ${timeoutMs / 1000} s.`);
    const abort = () => end('The work was cancelled.');
    signal.addEventListener('abort', abort, { once: true });
    let isSound = false;
    try {
      const page = await openPage(browser, tab, one);
      const result = await act(page);
      await page.close();
      isSound = !page.wasStopped && !closed;
      return result;
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', abort);
      if (isSound && !browser.hasEnded()) kept.put({ ...readied(browser), key: one.version.key });
      else await browser.kill();
      prepare();
    }
  }

  return {
    wall,
    product: first.product,
    visit: (one, limits, act) =>
      inTurn(one.version.account, limits.isAsked, async () => {
        await giveWay();
        return await visit(one, limits, act);
      }),
    async close() {
      closed = true;
      active?.close(new BrowserFault('The worker is shutting down.'));
      await kept.take()?.browser.kill();
      await (await spare.take()?.catch(() => undefined))?.browser.kill();
      await close();
    },
  };
}

/** Holds one thing for a while, and then gives it up. */
function createShelf<T>(forMs: number, giveUp: (thing: T) => void) {
  let held: { thing: T; timer: NodeJS.Timeout } | undefined;
  function take(): T | undefined {
    clearTimeout(held?.timer);
    const thing = held?.thing;
    held = undefined;
    return thing;
  }
  return {
    take,
    isEmpty: () => held === undefined,
    put(thing: T): void {
      const timer = setTimeout(() => giveUp(take() as T), forMs);
      timer.unref();
      held = { thing, timer };
    },
  };
}

const ignore = () => {};
