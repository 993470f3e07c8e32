/** Publishes and restores by the API during visits: every response is complete and from one version. */
import { expect, test } from 'vitest';
import { change, expectPage, newSite, page, post, publish } from '#test/acceptance/story.ts';
import { faultOf, sha256, startProbing } from '#test/edge/prober.ts';
import { useStack } from '#test/stack/stack.ts';

const stack = useStack();
const paths = ['/', '/first/', '/second/'];

test('publishes and restores never mix versions or lose files', async () => {
  const site = await newSite();
  const files = new Map<string, Buffer>();
  const deployments: string[] = [];

  async function publishVersion(version: number): Promise<void> {
    for (const name of ['first', 'second'])
      await change(site, `src/pages/${name}.astro`, page(`${name} ${version} `.repeat(20)));
    const { body } = await publish(site);
    const state = async () => (await stack.api(`/v1/deployments/${body.id}`)).body.status;
    await expect.poll(state, { timeout: 100_000, interval: 100 }).toBe('live');
    deployments.push(body.id);
    await expectPage(site, '/second/', `second ${version} `);
    for (const path of paths) await remember(path);
  }

  async function remember(path: string): Promise<void> {
    const { status, body, text } = await stack.visit(site.name, path);
    expect(status).toBe(200);
    files.set(sha256(body), body);
    for (const [asset] of path.endsWith('/') ? text.matchAll(/\/_astro\/[\w.-]+/g) : []) await remember(asset);
  }

  await publishVersion(1);
  const { port } = new URL(stack.edgeUrl);
  const host = `${site.name}.${stack.baseDomain}`;
  const prober = startProbing({ ports: [Number(port)], host, paths, perSecond: 100 });
  await publishVersion(2);
  for (let n = 0; n < 6; n++) {
    const { status } = await post(`/v1/deployments/${deployments[n % 2]}/restore`);
    expect(status).toBe(200);
    await expectPage(site, '/second/', `second ${(n % 2) + 1} `);
  }
  await prober.stop();
  const faults = prober.probes.flatMap((probe) => faultOf(probe, files) ?? []);
  expect(faults).toEqual([]);
  expect(new Set(prober.probes.map(({ tagged }) => tagged)).size).toBeGreaterThan(paths.length);
}, 300_000);
