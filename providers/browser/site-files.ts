/** Answers every request of a page from the files of one version. What lies on another host is not there. */
import pLimit from 'p-limit';
import type { Fields, Pipe } from './pipe.ts';

/** What the version has at a path of its origin. */
export type SiteFile = { type: string; body: Buffer; status?: number; policy?: string } | { redirectTo: string };
/** One version of a site, as the browser sees it. */
export type SiteVersion = {
  /** Different for each version; browsers of two versions are two processes. */
  key: string;
  /** Whose site it is: accounts take turns. */
  account: string;
  origin: string;
  /** Reads the file at a path as sent (`/about?x=1`). */
  read(path: string): Promise<SiteFile | undefined>;
};

export type Answered = { url: string; status: number; bytes: number; type: string };

const requestsMax = 2_000;
const servedBytesMax = 128 * 1024 * 1024;
/** So many files are in memory until the browser has taken them, however many the page asks for at once. */
const filesAtOnce = 4;
/** An edge takes no longer one. */
const addressMax = 8_000;

/** Begins to answer the requests of this session. Returns what was answered so far; `elsewhere`: on other hosts. */
export function openRequests(pipe: Pipe, isOurs: (session: string | undefined) => boolean, version: SiteVersion) {
  const answered: Answered[] = [];
  const elsewhere = new Set<string>();
  const activity = { open: 0, lastAt: performance.now() };
  const inMemory = pLimit(filesAtOnce);
  let [requests, served] = [0, 0];

  async function answer({ requestId, request }: Fields, session: string | undefined): Promise<void> {
    const address = String(request.url);
    const url = address.length > addressMax ? null : URL.parse(address);
    requests += 1;
    const refuse = (reason: string) => pipe.send('Fetch.failRequest', { requestId, errorReason: reason }, session);
    if (!url || requests > requestsMax) return void (await refuse('BlockedByClient'));
    if (url.origin !== version.origin) {
      if (elsewhere.size < requestsMax) elsewhere.add(url.href.slice(0, 2_000));
      return void (await refuse('InternetDisconnected'));
    }
    await inMemory(async () => {
      if (served > servedBytesMax) await refuse('BlockedByClient');
      else await send(url, { requestId, request }, session);
    });
  }

  async function send(url: URL, { requestId, request }: Fields, session: string | undefined): Promise<void> {
    const file = request.method === 'GET' ? await version.read(url.pathname + url.search) : undefined;
    if (file && 'redirectTo' in file) {
      await fulfill(requestId, session, 308, { location: file.redirectTo }, Buffer.alloc(0));
      return;
    }
    const missing = { status: 404, type: 'text/plain', body: Buffer.from('Not found'), policy: undefined };
    const { status = 200, type, body, policy } = file ?? missing;
    served += body.length;
    answered.push({ url: url.href, status, bytes: body.length, type });
    const fields = { 'content-type': type, 'x-content-type-options': 'nosniff' };
    await fulfill(requestId, session, status, policy ? { ...fields, 'content-security-policy': policy } : fields, body);
  }

  function fulfill(
    requestId: string,
    session: string | undefined,
    status: number,
    fields: Record<string, string>,
    body: Buffer,
  ) {
    const responseHeaders = Object.entries(fields).map(([name, value]) => ({ name, value }));
    const params = { requestId, responseCode: status, responseHeaders, body: body.toString('base64') };
    return pipe.send('Fetch.fulfillRequest', params, session);
  }

  pipe.on('Fetch.requestPaused', (params, session) => {
    // A page that is closed meanwhile takes no answer.
    if (!isOurs(session)) return;
    activity.open += 1;
    void answer(params, session)
      .catch(() => {})
      .finally(() => {
        activity.open -= 1;
        activity.lastAt = performance.now();
      });
  });
  /** Since when nothing was requested, in milliseconds; 0 while a request is open. */
  const quietMs = () => (activity.open > 0 ? 0 : performance.now() - activity.lastAt);
  return { answered, elsewhere, quietMs };
}
