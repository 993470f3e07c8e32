/** One page of a version, opened in a tab of its own: loaded, measured and drawn, each within a time limit. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Look, Region } from '#rules/looks.ts';
import { BrowserFault, type Fields, type Pipe } from './pipe.ts';
import { type Answered, openRequests, type SiteVersion } from './site-files.ts';

export type PictureFormat = 'png' | 'webp';
/** `scale`: pixels of the picture for each CSS pixel. `quality`: of WebP, up to 100. */
export type Detail = { scale?: number; quality?: number };

export type OpenPage = {
  /** What was requested from the version, and what lies elsewhere. */
  answered: readonly Answered[];
  elsewhere: ReadonlySet<string>;
  /** Uncaught errors and `console.error` of the page. */
  errors: readonly string[];
  /** Whether its scripts were stopped because they did not end. */
  wasStopped: boolean;
  /** The result of an expression, in a world of its own: the page's scripts cannot change what it calls. */
  evaluate(expression: string, timeoutMs?: number): Promise<unknown>;
  picture(format: PictureFormat, region: Region | 'window' | 'page', detail?: Detail): Promise<Buffer>;
  close(): Promise<void>;
};

const loadMs = 10_000;
/** For what does not depend on a page: only a busy machine makes it slow. */
const tabMs = 45_000;
const settleMs = 2_500;
const quietEnoughMs = 150;
const pictureMs = 8_000;
const errorsMax = 20;
const errorLength = 300;
const popupsMax = 20;
/** A page is drawn down to here. */
const pageHeightMax = 8_000;

/** An empty tab in a profile of its own, ready to show a page. */
export type Tab = { browserContextId: string; sessionId: string };

/** Opens an empty tab: all that can be done before it is known which page it shows. */
export async function openTab(pipe: Pipe): Promise<Tab> {
  const first = (method: string, params: Fields) => pipe.send(method, params, undefined, tabMs);
  const { browserContextId } = await first('Target.createBrowserContext', { disposeOnDetach: true });
  const { targetId } = await first('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId } = await first('Target.attachToTarget', { targetId, flatten: true });
  const call = (method: string, params?: Fields) => pipe.send(method, params, sessionId, tabMs);
  await Promise.all([
    call('Page.enable'),
    call('Runtime.enable'),
    call('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }),
    call('Network.setBypassServiceWorker', { bypass: true }),
    call('Fetch.enable', { patterns: [{ urlPattern: '*' }] }),
    call('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
  ]);
  return { browserContextId, sessionId };
}

export type Visit = { version: SiteVersion; path: string; look: Look };

/** Shows the page in the tab, and waits until it has loaded, or for as long as it may take. */
export async function openPage(pipe: Pipe, tab: Tab, { version, path, look }: Visit): Promise<OpenPage> {
  const { browserContextId, sessionId } = tab;
  pipe.nextPage();
  const sessions = new Set<string | undefined>([sessionId]);
  const errors: string[] = [];
  const { answered, elsewhere, quietMs } = openRequests(pipe, (session) => sessions.has(session), version);
  const call = (method: string, params?: Fields, timeoutMs?: number) => pipe.send(method, params, sessionId, timeoutMs);
  const loaded = Promise.withResolvers<void>();
  watch();
  await Promise.all([
    call('Emulation.setDeviceMetricsOverride', { ...sizeOf(look), deviceScaleFactor: 1, mobile: look.width < 600 }),
    call('Emulation.setEmulatedMedia', { features: featuresOf(look) }),
  ]);
  await call('Page.navigate', { url: new URL(path, version.origin).href }, loadMs).catch(() => ({}));
  const wasStopped = !(await within(loadMs, loaded.promise));
  if (wasStopped) await stopScripts();
  else await settle().catch(() => {});

  function watch(): void {
    let popups = 0;
    const isHere = (session: string | undefined) => session === sessionId;
    const note = (text: unknown) => {
      if (errors.length < errorsMax) errors.push(String(text).slice(0, errorLength));
    };
    pipe.on('Page.loadEventFired', (_, session) => isHere(session) && loaded.resolve());
    pipe.on('Page.javascriptDialogOpening', (_, session) => {
      if (isHere(session)) void call('Page.handleJavaScriptDialog', { accept: false }).catch(() => {});
    });
    pipe.on('Runtime.exceptionThrown', ({ exceptionDetails: thrown }, session) => {
      if (isHere(session)) note(thrown?.exception?.description ?? thrown?.text);
    });
    pipe.on('Runtime.consoleAPICalled', ({ type, args = [] }, session) => {
      if (isHere(session) && type === 'error')
        note(args.map((one: Fields) => one.value ?? one.description ?? '').join(' '));
    });
    pipe.on('Target.attachedToTarget', ({ sessionId: inner, targetInfo }, session) => {
      if (!sessions.has(session)) return;
      if (targetInfo.type === 'iframe') void adopt(inner).catch(() => {});
      else if (targetInfo.type === 'worker')
        void pipe.send('Runtime.runIfWaitingForDebugger', {}, inner).catch(() => {});
      else {
        popups += 1;
        if (popups > popupsMax) pipe.close(new BrowserFault('The page opened too many windows.'));
        void pipe.send('Target.closeTarget', { targetId: targetInfo.targetId }).catch(() => {});
      }
    });
  }

  /** A frame of another origin has a process and a session of its own. */
  async function adopt(inner: string): Promise<void> {
    sessions.add(inner);
    await pipe.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }, inner);
    await pipe.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }, inner);
    await pipe.send('Runtime.runIfWaitingForDebugger', {}, inner);
  }

  async function evaluate(expression: string, timeoutMs = settleMs): Promise<unknown> {
    const { frameTree } = await call('Page.getFrameTree', {}, timeoutMs);
    const world = { frameId: frameTree.frame.id, worldName: 'frontage' };
    const { executionContextId } = await call('Page.createIsolatedWorld', world, timeoutMs);
    const params = { expression, contextId: executionContextId, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails: fault } = await call('Runtime.evaluate', params, timeoutMs);
    if (fault) throw new BrowserFault(String(fault.exception?.description ?? fault.text).slice(0, errorLength));
    return result.value;
  }

  /** Scripts have asked for nothing for a moment, fonts are loaded, and two frames are drawn. */
  async function settle(): Promise<void> {
    const end = performance.now() + settleMs;
    while (quietMs() < quietEnoughMs && performance.now() < end) await delay(20);
    await evaluate(
      `Promise.race([document.fonts.ready.then(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))),
        new Promise((late) => setTimeout(late, ${settleMs - 500}))]).then(() => true)`,
    );
  }

  async function stopScripts(): Promise<void> {
    await Promise.allSettled([
      call('Emulation.setScriptExecutionDisabled', { value: true }, settleMs),
      call('Runtime.terminateExecution', {}, settleMs),
      call('Page.stopLoading', {}, settleMs),
    ]);
  }

  async function picture(
    format: PictureFormat,
    region: Region | 'window' | 'page',
    { scale = 1, quality = 80 }: Detail = {},
  ): Promise<Buffer> {
    const clip = region === 'window' ? undefined : { ...(await clipOf(region)), scale };
    const params = {
      format,
      ...(format === 'webp' ? { quality } : {}),
      ...(clip ? { clip, captureBeyondViewport: true } : {}),
    };
    const { data } = await call('Page.captureScreenshot', params, pictureMs);
    return Buffer.from(String(data), 'base64');
  }

  async function clipOf(region: Region | 'page') {
    if (region !== 'page') return region;
    const { cssContentSize } = await call('Page.getLayoutMetrics');
    const height = Math.min(pageHeightMax, Math.max(look.height, Math.ceil(cssContentSize.height)));
    return { x: 0, y: 0, width: look.width, height };
  }

  async function close(): Promise<void> {
    sessions.clear();
    await pipe.send('Target.disposeBrowserContext', { browserContextId });
  }

  return { answered, elsewhere, errors, wasStopped, evaluate, picture, close };
}

const sizeOf = ({ width, height }: Look) => ({ width, height });
/** Pages that move less are drawn alike twice. */
const featuresOf = ({ scheme }: Look) => [
  { name: 'prefers-color-scheme', value: scheme },
  { name: 'prefers-reduced-motion', value: 'reduce' },
];

async function within(ms: number, promise: Promise<void>): Promise<boolean> {
  const ended = new AbortController();
  const late = delay(ms, false, { signal: ended.signal }).catch(() => false);
  return await Promise.race([promise.then(() => true), late]).finally(() => ended.abort());
}
