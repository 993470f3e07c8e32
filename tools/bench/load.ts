/** Load on one address by wrk, a client that costs less than the fastest server. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type Load = {
  url: string;
  host: string;
  connections: number;
  seconds: number;
  /** In addition to Host. */
  headers?: Record<string, string>;
  /** A script of the folder `wrk` with its arguments, instead of a single path. */
  script?: { name: string; args: string[] };
};
export type LoadResult = {
  requestsPerSecond: number;
  requests: number;
  failures: number;
  p50Ms: number;
  p99Ms: number;
};

/**
 * Sends requests as fast as responses arrive, over keep-alive connections. Anything but a response below 400 is a
 * failure.
 */
export async function load({ url, host, connections, seconds, headers = {}, script }: Load): Promise<LoadResult> {
  const path = join(import.meta.dirname, 'wrk', script?.name ?? 'one-path.lua');
  const options = ['-t', '2', '-c', String(connections), '-d', `${seconds}s`, '-s', path, '-H', `Host: ${host}`];
  for (const [name, value] of Object.entries(headers)) options.push('-H', `${name}: ${value}`);
  const { stdout } = await promisify(execFile)('wrk', [...options, url, '--', ...(script?.args ?? [])]);
  const line = stdout.split('\n').find((one) => one.startsWith('{')) ?? '{}';
  const { microseconds, ...result } = JSON.parse(line);
  return { ...result, requestsPerSecond: (result.requests * 1e6) / microseconds };
}
