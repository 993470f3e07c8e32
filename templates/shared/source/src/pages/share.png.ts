/** The picture of link previews, 1200 × 630: the site's title in its colours. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Resvg } from '@resvg/resvg-js';
import type { APIRoute } from 'astro';
import satori from 'satori';
import { site } from '../facts';
import { share } from '../share';

const modules = createRequire(join(process.cwd(), 'package.json'));

export const GET: APIRoute = async ({ site: address }) => {
  const font = await readFile(modules.resolve(share.font));
  const text = (children: string, style: object) => ({ type: 'div', props: { style, children } });
  const title = text(site.title, { fontSize: site.title.length > 24 ? 84 : 120, lineHeight: 1, letterSpacing: '-0.02em' });
  const host = text(address?.host ?? '', { fontSize: 32, color: share.accent });
  const style = {
    display: 'flex',
    flexDirection: 'column',
    justifyContent: 'space-between',
    width: '100%',
    height: '100%',
    padding: 80,
    background: share.paper,
    color: share.ink,
  };
  const drawing = await satori({ type: 'div', props: { style, children: [title, host] } } as never, {
    width: 1200,
    height: 630,
    fonts: [{ name: 'Title', data: font, weight: 400, style: 'normal' }],
  });
  const picture = new Resvg(drawing).render().asPng();
  return new Response(new Uint8Array(picture), { headers: { 'content-type': 'image/png' } });
};
