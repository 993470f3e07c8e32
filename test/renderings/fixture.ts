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
      await worker?.close();
      await renderer?.close();
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
  const at = bytes.indexOf('VP8 ');
  if (bytes.subarray(8, 12).toString() !== 'WEBP' || at === -1)
    throw new Error('This is neither a PNG nor a lossy WebP.');
  return { type: 'webp', width: bytes.readUInt16LE(at + 14) & 0x3fff, height: bytes.readUInt16LE(at + 16) & 0x3fff };
}
