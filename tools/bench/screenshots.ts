/**
 * How long a screenshot takes once the browser runs: another picture of the same version, and the first of the next one.
 * Then how much later a publish is served while twenty screenshots wait. Pairs are interleaved.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { openRenderer } from '#providers/browser/renderer.ts';
import { median, percentile } from './measure.ts';
import { warmth } from './publish.ts';
import { type BenchSite, type Fixture, openFixture } from './publish-fixture.ts';
import { newBlog, post } from './publish-sites.ts';

const quick = process.argv.includes('--quick');
const rounds = quick ? 10 : 40;
const pairs = quick ? 2 : 7;
const waiting = 20;
/** The next browser starts meanwhile. */
const pauseMs = 2_500;
const look = { width: 390, height: 844, scheme: 'light' } as const;

/** Returns the section for RESULTS.md. */
export async function benchScreenshots(): Promise<string> {
  return `${await benchOne()}\n\n${await benchBesidePublish()}`;
}

async function benchOne(): Promise<string> {
  const renderer = await openRenderer({ chromium: '', owner: 'bench', warn: console.warn });
  async function draw(key: string): Promise<number> {
    const version = { key, account: 'bench', origin: 'https://bench.test', read: async (path: string) => files[path] };
    const limits = { timeoutMs: 25_000, signal: new AbortController().signal, isAsked: true };
    const began = performance.now();
    await renderer.visit({ version, path: '/', look }, limits, (page) => page.picture('webp', 'window'));
    return performance.now() - began;
  }
  try {
    await draw('first');
    const [same, next]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) same.push(await draw('first'));
    for (let round = 0; round < rounds; round++) {
      await delay(pauseMs);
      next.push(await draw(`version ${round}`));
    }
    const row = (what: string, took: number[]) =>
      `| ${what} | ${percentile(took, 0.5).toFixed(0)} ms | ${percentile(took, 0.95).toFixed(0)} ms |`;
    return [
      '| screenshot | p50 | p95 |',
      '| --- | --- | --- |',
      row('one more of the same version', same),
      row('the first of another version', next),
    ].join('\n');
  } finally {
    await renderer.close();
  }
}

/** Publishes of a blog of 17 posts, with nothing else to do and while screenshots wait. */
async function benchBesidePublish(): Promise<string> {
  const fixture = await openFixture({ FRONTAGE_SCREENSHOTS: 'on' });
  const ratios: number[] = [];
  const taken: { alone: number[]; beside: number[] } = { alone: [], beside: [] };
  try {
    const warm = warmth(fixture, 2);
    for (let pair = 0; pair < pairs; pair++) {
      await fixture.newOwner();
      const site = await newBlog(fixture, 17);
      await publishOnce(fixture, site, 'tide');
      const kinds = pair % 2 === 0 ? (['alone', 'beside'] as const) : (['beside', 'alone'] as const);
      for (const kind of kinds) {
        await untilChecked(fixture, site);
        await warm.settle();
        const mark = `${kind}-of-pair-${pair}`;
        await fixture.push(site.content, { 'posts/post-1.md': post(1, mark) });
        if (kind === 'beside') await askForMany(fixture, site);
        taken[kind].push(await publishOnce(fixture, site, mark));
      }
      ratios.push((taken.beside.at(-1) ?? 0) / (taken.alone.at(-1) ?? 1));
      console.log(`… pair ${pair + 1} of ${pairs}: ${ratios.at(-1)?.toFixed(2)}`);
    }
  } finally {
    await fixture.stop();
  }
  const [alone, beside] = [median(taken.alone), median(taken.beside)].map((ms) => `${Math.round(ms)} ms`);
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  return `A publish takes ${alone}; while ${waiting} screenshots wait, ${beside}: **${median(ratios).toFixed(2)}** times as long (median of ${pairs} pairs, ${range}).`;
}

/** Publishes, and returns after how many milliseconds a visitor sees it. */
async function publishOnce(fixture: Fixture, site: BenchSite, mark: string): Promise<number> {
  const from = performance.now();
  const [seen] = await Promise.all([
    fixture.visible(site, '/posts/post-1/', mark),
    fixture.call(`/v1/sites/${site.id}/publish`, { scope: 'site' }, { prefer: 'wait=120' }),
  ]);
  return seen - from;
}

const liveOf = async (fixture: Fixture, site: BenchSite): Promise<string> =>
  (await fixture.call(`/v1/sites/${site.id}`)).live_deployment_id;

/** Waits until the browser has done what follows a publish, and what was asked for. */
async function untilChecked(fixture: Fixture, site: BenchSite): Promise<void> {
  const { items } = await fixture.call(`/v1/sites/${site.id}/deployments?limit=10`);
  for (const { id } of items) {
    while ((await fixture.call(`/v1/deployments/${id}/checks`, {}, { prefer: 'wait=30' })).status !== 'done')
      await delay(500);
  }
}

async function askForMany(fixture: Fixture, site: BenchSite): Promise<void> {
  const id = await liveOf(fixture, site);
  const asked = Array.from({ length: waiting }, (_, n) =>
    fixture.call(`/v1/deployments/${id}/screenshot?width=${400 + n}`, undefined, { prefer: 'respond-async' }),
  );
  await Promise.all(asked);
}

const words = '<p>What we bake today, and where to find us: every morning from six at the old mill.</p>'.repeat(40);
const circle =
  '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"><circle cx="150" cy="150" r="140" fill="teal"/></svg>';
const files: Record<string, { type: string; body: Buffer }> = {
  '/': {
    type: 'text/html; charset=utf-8',
    body: Buffer.from(
      `<!doctype html><html lang="en"><title>The mill</title><link rel="stylesheet" href="/a.css"><h1>The mill</h1><img src="/a.svg" alt="">${words}<script src="/a.js"></script>`,
    ),
  },
  '/a.css': { type: 'text/css', body: Buffer.from('body { font: 18px/1.6 serif; margin: 2rem } h1 { color: #264 }') },
  '/a.svg': { type: 'image/svg+xml', body: Buffer.from(circle) },
  '/a.js': { type: 'text/javascript', body: Buffer.from('document.body.dataset.ready = "yes"') },
};
