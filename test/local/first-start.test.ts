/** What a first `docker compose up` would meet: faults that were found when the file was started (docs/history/campaigns.md). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const read = (path: string) => readFile(join(import.meta.dirname, '../..', path), 'utf8');
const services: Record<string, Service> = parse(await read('docker-compose.yml'), { merge: true }).services;
const ours = Object.entries(services).filter(([, { image }]) => image.includes('frontage'));
const dockerfile = await read('Dockerfile');

type Service = {
  image: string;
  build?: string;
  init?: boolean;
  tmpfs?: string[];
  ulimits?: { nofile: number };
  healthcheck?: { test: string[] };
};

test('each image is built once, as a clone is installed', () => {
  expect(ours.filter(([, { build }]) => build).map(([name]) => name)).toEqual(['migrate', 'browser']);
  // `npm ci` refuses our lockfile: docs/decisions/platform/009.
  expect(dockerfile).toContain('|| npm install --no-save --omit=dev --ignore-scripts');
});

test('the image and CI have the Chromium that takes the least time', async () => {
  for (const installs of [dockerfile, await read('.ci/run')]) expect(installs).toMatch(/\bchromium-headless-shell\b/);
  expect(dockerfile).not.toMatch(/\bchromium\s/);
});

test('no process needs to execute files in /tmp', () => {
  for (const [, { tmpfs = [] }] of ours) expect(tmpfs).toEqual(['/tmp']);
  expect(dockerfile).toMatch(/^ENV .*SWC_NATIVE_BINDING_CACHE=\/data\//m);
});

test('the database is not its container’s first process, and healthy when reachable', () => {
  const { init, healthcheck } = services.postgres as Service;
  expect(init).toBe(true);
  expect(healthcheck?.test).toContain('--host=127.0.0.1');
});

test('the load balancer may open enough files for its connections', async () => {
  const cfg = await read('operator/haproxy.cfg');
  const connections = Number(/^ {2}maxconn (\d+)$/m.exec(cfg)?.[1]);
  expect(services.front?.ulimits?.nofile).toBeGreaterThan(2 * connections + 100);
  const names = [...cfg.matchAll(/^(?:frontend|backend) (\S+)$/gm)].map(([, name]) => name);
  expect(new Set(names).size).toBe(names.length);
});
