/** Visitors at a steady rate, with what their browsers remember: tags, halves of downloads, compressed forms. */
import { createHash } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

export type Probe = {
  path: string;
  /** Milliseconds of performance.now(). */
  began: number;
  ended: number;
  status: number;
  headers: IncomingHttpHeaders;
  /** What was asked for beyond the path. */
  asked: Record<string, string>;
  /** SHA-256 of the file that the answer is of, as its tag says. */
  tagged: string | undefined;
  body: Buffer;
};

export type Prober = {
  probes: Probe[];
  /** Stops asking; resolves when all answers are there. */
  stop(): Promise<void>;
};

type Options = { ports: number[]; host: string; paths: string[]; perSecond: number };

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Asks for these paths in turn, of each port in turn, and for whatever hashed assets the pages name. */
export function startProbing({ ports, host, paths, perSecond }: Options): Prober {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const probes: Probe[] = [];
  const pending = new Set<Promise<void>>();
  const remembered = new Map<string, { etag: string; body: Buffer }>();
  let sent = 0;

  async function probe(path: string): Promise<void> {
    const port = ports[sent % ports.length] as number;
    const asked = wishes(sent++, remembered.get(path)?.etag);
    const began = performance.now();
    const { status, headers, body } = await ask(agent, port, host, path, asked);
    const etag = headers.etag;
    const tagged = /^"([0-9a-f]{64})(?:-br|-gzip)?"$/.exec(etag ?? '')?.[1];
    probes.push({ path, began, ended: performance.now(), status, headers, asked, tagged, body });
    if (status !== 200 || etag === undefined) return;
    remembered.set(path, { etag, body });
    // A page's own assets are asked for when it has been read, perhaps of an edge that is faster or slower.
    const [asset] = /\/_astro\/[\w.-]+/.exec(decoded(headers, body).toString()) ?? [];
    if (asset && path !== asset) await probe(asset);
  }

  function start(path: string): void {
    const running = probe(path).finally(() => pending.delete(running));
    pending.add(running);
  }

  const began = performance.now();
  let asked = 0;
  const timer = setInterval(() => {
    for (; asked < ((performance.now() - began) / 1000) * perSecond; asked++)
      start(paths[asked % paths.length] as string);
  }, 5);
  return {
    probes,
    async stop() {
      clearInterval(timer);
      await Promise.all(pending);
      agent.destroy();
    },
  };
}

/** What one visitor in eight does, each in its way. */
function wishes(n: number, etag: string | undefined): Record<string, string> {
  const known = etag?.replace(/-(br|gzip)"$/, '"');
  switch (n % 8) {
    case 0:
    case 1:
      return etag ? { 'if-none-match': etag, 'accept-encoding': etag.endsWith('-br"') ? 'br' : 'identity' } : {};
    case 2:
      return { 'accept-encoding': 'br' };
    case 3:
      return { 'accept-encoding': 'gzip' };
    case 4:
      // The second half of what was begun, if it is still the same.
      return known ? { range: 'bytes=100-', 'if-range': known } : {};
    case 5:
      return known ? { 'if-match': known, range: 'bytes=0-99' } : {};
    default:
      return {};
  }
}

export function decoded(headers: IncomingHttpHeaders, body: Buffer): Buffer {
  if (headers['content-encoding'] === 'br') return brotliDecompressSync(body);
  if (headers['content-encoding'] === 'gzip') return gunzipSync(body);
  return body;
}

function ask(agent: Agent, port: number, host: string, path: string, headers: Record<string, string>) {
  return new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    const req = request({ agent, port, host: '127.0.0.1', path, headers: { host, ...headers } }, (res) => {
      buffer(res).then((body) => resolve({ status: res.statusCode as number, headers: res.headers, body }), reject);
    });
    req.on('error', reject);
    req.end();
  });
}

/** What is wrong with an answer, by the files that all versions hold at its path; undefined when nothing is. */
export function faultOf(probe: Probe, files: ReadonlyMap<string, Buffer>): string | undefined {
  const { status, headers, asked, tagged, body } = probe;
  if (status === 412) return asked['if-match'] ? undefined : 'a condition that nobody made failed';
  const whole = tagged === undefined ? undefined : files.get(tagged);
  if (!whole) return `status ${status}, of no version`;
  if (status === 304) {
    if (headers.etag !== asked['if-none-match']) return 'not changed, with another tag than was asked about';
    return body.length === 0 ? undefined : 'not changed, with a body';
  }
  if (headers['content-length'] !== String(body.length)) return 'a body of another length than was said';
  if (status === 200) return decoded(headers, body).equals(whole) ? undefined : 'a body that is not what its tag says';
  if (status !== 206) return `status ${status}`;
  if (asked['if-range'] && headers.etag !== asked['if-range']) return 'the second half of something else';
  const start = asked.range === 'bytes=100-' ? 100 : 0;
  const part = whole.subarray(start, start + body.length);
  return body.length > 0 && body.equals(part) ? undefined : 'a part that is not of what its tag says';
}
