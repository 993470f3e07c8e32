/** A direction of a sketch as a browser sees it: one page, whose scripts do not run. */
import type { EntityManager } from '#db/orm.ts';
import type { SiteVersion } from '#providers/browser/site-files.ts';
import type { Store } from '#providers/store/store.ts';

/** As an edge serves it (edge/content/sketches.ts): nothing of the origin but the page itself. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline' https:; img-src data: https:; font-src data: https:; media-src data: https:; base-uri 'none'; sandbox";

/** Undefined if the sketch is removed. Only these columns may be read by a worker that serves nothing else. */
export async function openDirection(
  em: EntityManager,
  store: Pick<Store, 'readAll'>,
  { sketch, position }: { sketch: string; position: number },
): Promise<SiteVersion | undefined> {
  const [row] = await em.execute<{ sha256: string; account: string }[]>(
    `select sha256, account_id as account from sketch join sketch_host on sketch_id = sketch.id
     where sketch.id = ? and position = ? and status = 'shown' and sha256 is not null`,
    [sketch, position],
  );
  if (!row) return undefined;
  const body = await store.readAll(row.sha256);
  if (!body) return undefined;
  return {
    key: `${sketch} ${position}`,
    account: row.account,
    origin: 'https://sketch.invalid',
    read: async (path) => (path === '/' ? { type: 'text/html; charset=utf-8', body, policy } : undefined),
  };
}
