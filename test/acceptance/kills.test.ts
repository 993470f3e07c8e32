/** Every process is killed at random moments of a publish: each accepted publish ends, and no visitor sees a mix of two versions. */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OwnStack, startOwnStack } from '../stack/stack.ts';

// The long form: KILLS=20 npm test -- test/acceptance/kills
const rounds = Number(process.env.KILLS ?? 1);
const parts = ['api', 'worker', 'temporal', 'postgres'] as const;
const ended = ['live', 'retired', 'superseded', 'failed', 'cancelled'];

let stack: OwnStack;
let site: { id: string; name: string };
beforeAll(async () => {
  stack = await startOwnStack();
  const name = `kills-${process.pid}`;
  ({ body: site } = await stack.api('/v1/sites', {
    method: 'POST',
    body: { name, title: 'Kills', template: 'blank' },
  }));
  await stack.api(`/v1/sites/${site.id}/publish`, { method: 'POST', body: {}, headers: { prefer: 'wait=50' } });
});
afterAll(() => stack.stop());

/** Writes version `n` into two pages that must always agree, and asks to publish it. Answers the deployment's id. */
async function publishVersion(n: string): Promise<string> {
  const text = `<html><head><title>v</title></head><body>version ${n} end</body></html>\n`;
  const changes = ['one', 'two'].map((page) => ({ path: `src/pages/${page}.astro`, text }));
  await stack.api(`/v1/sites/${site.id}/commits`, { method: 'POST', body: { message: n, changes } });
  const { body } = await stack.api(`/v1/sites/${site.id}/publish`, {
    method: 'POST',
    body: {},
    headers: { prefer: 'respond-async' },
  });
  return body.id;
}

async function readDeployment(id: string) {
  return await stack.api(`/v1/deployments/${id}`).then(
    ({ body }) => body,
    () => ({}),
  );
}

/** Asks the edge without a pause until it is told to stop. Answers what no visitor may ever see. */
function probe(): () => Promise<string[]> {
  const faults: string[] = [];
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      const { status, text } = await stack.visit(site.name, '/one/');
      const versions = new Set(text.match(/version \S+ end/g));
      if (status >= 500 || versions.size > 1) faults.push(`${status}: ${[...versions].join(', ')}`);
      await delay(20);
    }
  })();
  return async () => {
    stopped = true;
    await running;
    return faults;
  };
}

test.each(parts)('a publish during which %s is killed ends live, and visitors are served throughout', async (part) => {
  for (let round = 0; round < rounds; round++) {
    const stop = probe();
    const version = `${part}-${round}`;
    const id = await publishVersion(version);
    await delay(randomInt(0, 3000));
    await stack.kill(part);
    await stack.restart(part);
    await expect
      .poll(async () => (await readDeployment(id)).status, { timeout: 90_000, interval: 250 })
      .toSatisfy((status: string) => ended.includes(status));
    const { status, error } = await readDeployment(id);
    expect({ version, status, error }).toEqual({ version, status: 'live', error: undefined });
    for (const page of ['/one/', '/two/']) {
      await expect
        .poll(async () => (await stack.visit(site.name, page)).text, { timeout: 5000, interval: 50 })
        .toContain(`version ${version} end`);
    }
    expect(await stop()).toEqual([]);
    const { body: list } = await stack.api(`/v1/sites/${site.id}/deployments`);
    expect(list.items.filter((one: { status: string }) => one.status === 'live')).toHaveLength(1);
  }
});
