/** Load over TLS by h2load, on a server of this machine. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export type Amount = { requests: number; seconds: number };

/** Runs h2load. Anything but a response below 400 is a failure, which is thrown. */
async function run(url: string, options: string[]): Promise<Amount> {
  const { port } = new URL(url);
  const all = ['-t', '2', `--connect-to=127.0.0.1:${port}`, ...options, url];
  const { stdout } = await promisify(execFile)('h2load', all);
  const seconds = Number(/^finished in ([\d.]+)s,/m.exec(stdout)?.[1] ?? milliseconds(stdout) / 1000);
  const [, succeeded, failed] = /, (\d+) succeeded, (\d+) failed,/.exec(stdout) ?? [];
  if (Number(succeeded) === 0 || failed !== '0') throw new Error(`h2load failed:\n${stdout}`);
  return { requests: Number(succeeded), seconds };
}

const milliseconds = (stdout: string) => Number(/^finished in ([\d.]+)ms,/m.exec(stdout)?.[1]);

/** Requests over HTTP/2, over connections that stay open. */
export async function loadHttp2(url: string, seconds: number): Promise<Amount> {
  return await run(url, ['-c', '32', '-m', '10', '-D', String(seconds)]);
}

/** Full handshakes: connections of HTTP/1.1 with one request each, in waves that the servers' queues can hold. */
export async function connectOften(url: string, seconds: number): Promise<Amount> {
  const sum = { requests: 0, seconds: 0 };
  while (sum.seconds < seconds) {
    const wave = await run(url, ['--h1', '-n', '400', '-c', '400']);
    sum.requests += wave.requests;
    sum.seconds += wave.seconds;
  }
  return sum;
}
