/** A small picture of a home page, for the card of its site in the console. */
import type { Renderer, VisitLimits } from '#providers/browser/renderer.ts';
import { cardPicture } from '#rules/looks.ts';
import type { ShownVersion } from './site-version.ts';

const look = { width: 1280, height: 800, scheme: 'light' } as const;
/** The first whose picture is small enough is used. */
const qualities = [70, 45, 20];

/** Undefined if there is no home page, or if no picture of it is small enough. */
export async function drawCard(
  renderer: Renderer,
  version: ShownVersion,
  limits: VisitLimits,
): Promise<Buffer | undefined> {
  if (!version.leadsSomewhere('/')) return undefined;
  const { width, height } = look;
  const scale = cardPicture.width / width;
  return await renderer.visit({ version, path: '/', look }, limits, async (page) => {
    for (const quality of qualities) {
      const picture = await page.picture('webp', { x: 0, y: 0, width, height }, { scale, quality });
      if (picture.length <= cardPicture.bytesMax) return picture;
    }
    return undefined;
  });
}
