/** How long a screenshot takes once the browser runs: another picture of the same version, and the first of the next one. */
import { setTimeout as delay } from 'node:timers/promises';
import { openRenderer } from '#providers/browser/renderer.ts';

const rounds = 40;
/** The next browser starts meanwhile. */
const pauseMs = 2_500;
const look = { width: 390, height: 844, scheme: 'light' } as const;

/** Returns the section for RESULTS.md. */
export async function benchScreenshots(): Promise<string> {
  const renderer = await openRenderer({ chromium: '', owner: 'bench', warn: console.warn });
  async function draw(key: string): Promise<number> {
    const version = { key, origin: 'https://bench.test', read: async (path: string) => files[path] };
    const limits = { timeoutMs: 25_000, signal: new AbortController().signal };
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
      `| ${what} | ${percentile(took, 0.5)} ms | ${percentile(took, 0.95)} ms |`;
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

function percentile(took: readonly number[], part: number): string {
  const sorted = took.toSorted((a, b) => a - b);
  return (sorted[Math.ceil(part * sorted.length) - 1] ?? 0).toFixed(0);
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
