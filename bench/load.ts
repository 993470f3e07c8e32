/** Load on one address, by autocannon in a process of its own. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

export type Load = { url: string; host: string; connections: number; seconds: number };
export type LoadResult = { requests: number; failures: number; p99Ms: number };

const autocannon = createRequire(import.meta.url).resolve('autocannon');

/** Asks as fast as answers come, over connections that are kept. Anything but 200 is a failure. */
export async function load({ url, host, connections, seconds }: Load): Promise<LoadResult> {
  const options = ['-j', '-c', String(connections), '-d', String(seconds), '-H', `host=${host}`, url];
  const { stdout } = await promisify(execFile)(process.execPath, [autocannon, ...options]);
  const result = JSON.parse(stdout);
  return {
    requests: result['2xx'],
    failures: result.non2xx + result.errors + result.timeouts,
    p99Ms: result.latency.p99,
  };
}
