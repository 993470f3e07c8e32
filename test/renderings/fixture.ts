/** The API with an edge, and a worker with a browser. */
import { openRenderer, type Renderer } from '#providers/browser/renderer.ts';
import type { Files } from '#test/edge/fixture.ts';
import { createFixture, createSite } from '#test/output/fixture.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';

export { errorOf } from '#test/api/fixture.ts';

export const openTestRenderer = (): Promise<Renderer> =>
  openRenderer({ chromium: '', owner: `test-${process.pid}`, warn: () => {} });

/** Without `withBrowser`, nothing is ever drawn. */
export async function createRenderingFixture({
  withBrowser = false,
  limits = {},
}: {
  withBrowser?: boolean;
  limits?: { screenshots_per_hour?: number };
} = {}) {
  const env = { FRONTAGE_SCREENSHOTS: 'on', ...(withBrowser ? { TEMPORAL_NAMESPACE: await createNamespace() } : {}) };
  const fixture = await createFixture(env, { limits });
  const renderer = withBrowser ? await openTestRenderer() : undefined;
  const worker = renderer && (await startWorker(fixture.deps, { renderer }));
  const owner = await fixture.newCaller();

  return {
    ...fixture,
    owner,
    renderer,
    /** A new site with these files live. Returns the id of its deployment, and how to publish the next version. */
    async show(files: Files) {
      const { id } = await createSite(owner);
      const publish = (next: Files) => fixture.publish(id, owner.accountId, next);
      return { site: id, deployment: await publish(files), publish };
    },
    async close() {
      // What is still shown ends with it, so the worker waits for nothing.
      await renderer?.close();
      await worker?.close();
      await fixture.close();
    },
  };
}

/** A page with nothing wrong. */
export const goodPage = (
  body: string,
  { head = '', title = 'The pottery', lang = 'en', viewport = true, meta = true } = {},
) => `<!doctype html>
<html${lang ? ` lang="${lang}"` : ''}><head><meta charset="utf-8">${title ? `<title>${title}</title>` : ''}
${viewport ? '<meta name="viewport" content="width=device-width">' : ''}
${meta ? '<meta name="description" content="Bowls and cups."><meta property="og:image" content="https://pottery.example/share.png">' : ''}
<link rel="icon" href="data:,"><style>body { font: 16px/1.5 sans-serif; margin: 16px; color: #222; background: #fff } img { max-width: 100% }</style>${head}</head>
<body><main><h1>${title || 'The pottery'}</h1>${body}</main></body></html>`;

/** The size of a picture, from its first bytes. */
export function sizeOf(bytes: Buffer): { type: string; width: number; height: number } {
  if (bytes.subarray(1, 4).toString() === 'PNG')
    return { type: 'png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (bytes.subarray(8, 12).toString() !== 'WEBP') throw new Error('This is neither a PNG nor a WebP.');
  if (bytes.subarray(12, 16).toString() === 'VP8X')
    return { type: 'webp', width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
  if (bytes.subarray(12, 16).toString() === 'VP8L') {
    const bits = bytes.readUInt32LE(21);
    return { type: 'webp', width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) };
  }
  return { type: 'webp', width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}
