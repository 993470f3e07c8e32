/**
 * Chromium's DevTools protocol over its pipe: JSON messages that end with a zero byte. What a page makes Chromium send is
 * hostile, so a message and all of a page together have limits; beyond them the browser is ended.
 */
import type { Readable, Writable } from 'node:stream';

// biome-ignore lint/suspicious/noExplicitAny: the protocol has hundreds of types; each caller reads the few fields that it names.
export type Fields = Record<string, any>;
export type Listener = (params: Fields, session: string | undefined) => void;

export type Pipe = {
  /** Rejects if Chromium refuses the call, does not answer in time, or has ended. */
  send(method: string, params?: Fields, session?: string, timeoutMs?: number): Promise<Fields>;
  /** Calls the listener at each event of this name. */
  on(event: string, listener: Listener): void;
  /** Another page begins, which may make the browser send as much as the one before. */
  nextPage(): void;
  /** Rejects all calls, and ignores what follows. */
  close(reason: Error): void;
};

const messageBytesMax = 48 * 1024 * 1024;
/** Of one page. */
const pageBytesMax = 512 * 1024 * 1024;
const answerMs = 15_000;

/** A page that does not answer, or a browser that has ended. */
export class BrowserFault extends Error {}

/** A `catch` handler: returns undefined for a BrowserFault, and rethrows every other error. */
export function undefinedIfFault(error: unknown): undefined {
  if (error instanceof BrowserFault) return undefined;
  throw error;
}

/** `onFault` is called once if the other side sends too much or ends. */
export function openPipe(
  input: Writable,
  output: Readable,
  onFault: (fault: Error) => void,
  bytesMax = pageBytesMax,
): Pipe {
  const waiting = new Map<number, { resolve: (result: Fields) => void; reject: (error: Error) => void }>();
  const listeners = new Map<string, Listener[]>();
  let chunks: Buffer[] = [];
  let [size, total, last] = [0, 0, 0];
  let closed: Error | undefined;

  function close(reason: Error): void {
    if (closed) return;
    closed = reason;
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
    chunks = [];
    output.destroy();
    input.destroy();
    onFault(reason);
  }

  function receive(text: string): void {
    const { id, method, params, result, error, sessionId } = JSON.parse(text) as Fields;
    if (id === undefined) {
      for (const listener of listeners.get(method) ?? []) listener(params ?? {}, sessionId);
      return;
    }
    const call = waiting.get(id);
    waiting.delete(id);
    if (error) call?.reject(new BrowserFault(String(error.message)));
    else call?.resolve(result ?? {});
  }

  output.on('data', (chunk: Buffer) => {
    total += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1 && !closed; end = chunk.indexOf(0, start)) {
      chunks.push(chunk.subarray(start, end));
      const message = Buffer.concat(chunks).toString();
      [chunks, size, start] = [[], 0, end + 1];
      receive(message);
    }
    chunks.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > messageBytesMax || total > bytesMax) close(new BrowserFault('The page made the browser send too much.'));
  });
  for (const stream of [input, output]) {
    stream.on('error', () => close(new BrowserFault('The browser has ended.')));
    stream.on('close', () => close(new BrowserFault('The browser has ended.')));
  }

  return {
    async send(method, params = {}, session, timeoutMs = answerMs) {
      if (closed) throw closed;
      last += 1;
      const id = last;
      const { promise, resolve, reject } = Promise.withResolvers<Fields>();
      waiting.set(id, { resolve, reject });
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(new BrowserFault(`The page did not answer ${method} within ${timeoutMs / 1000} s.`));
      }, timeoutMs);
      input.write(`${JSON.stringify({ id, method, params, ...(session ? { sessionId: session } : {}) })}\0`);
      return await promise.finally(() => clearTimeout(timer));
    },
    on(event, listener) {
      listeners.set(event, [...(listeners.get(event) ?? []), listener]);
    },
    nextPage() {
      total = 0;
    },
    close,
  };
}
