/** Disabled telemetry costs nothing. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const usual = [
  'api/app.ts',
  'activities/index.ts',
  'worker/activity-interceptor.ts',
  'worker/bundle.ts',
  'edge/edge-process.ts',
];

/** Packages that a process loads with these entries. */
async function packagesOf(entries: string[]): Promise<string[]> {
  const program = `
    for (const entry of process.argv.slice(1)) await import(entry);
    const { createRequire } = await import('node:module');
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)));`;
  const paths = entries.map((entry) => join(root, entry));
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, ...paths], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(stdout);
}

test('without traces and metrics, neither OpenTelemetry nor Prometheus’s library is loaded', async () => {
  const isTelemetry = (path: string) => /@opentelemetry\/|interceptors-opentelemetry|prom-client/.test(path);
  expect((await packagesOf(usual)).filter(isTelemetry)).toEqual([]);
  expect(
    (await packagesOf(['worker/tracing.ts', 'runtime/telemetry/metrics-server.ts'])).filter(isTelemetry).length,
  ).toBeGreaterThan(20);
}, 60_000);
