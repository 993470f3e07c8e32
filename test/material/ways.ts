/** The ways on which a photo loses its metadata: a single file, a commit, an upload link, and the stock library. */
import { createHash } from 'node:crypto';
import { createMaterial, type Material } from './fixture.ts';
import { startLibrary } from './library.ts';
import type { Photograph } from './photographs.ts';

export type Arrived = { photo: Photograph; way: string; bytes: Buffer };

const together = 20;
export const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A system whose stock library sends the photos that it is given. */
export async function openWays() {
  const stock = await startLibrary();
  const material = await createMaterial(
    { ...stock.env, FRONTAGE_RATE_SCALE: '1000000' },
    { limits: { files_per_day: 100_000, site_files: 100_000 } },
  );
  const owner = await material.owner();
  const read = (path: string) => material.bytes(owner.siteId, path);
  return {
    material,
    owner,
    /** Sends all photos on each way. Returns what the site has, and throws if an answer names other bytes. */
    async send(photos: readonly Photograph[]): Promise<Arrived[]> {
      const arrived: Arrived[] = [];
      for (const photo of photos) {
        const put = await material.put(owner, owner.siteId, `src/assets/put-${photo.name}`, photo.bytes);
        const bytes = await read(requirePath(put));
        requireHash(bytes, put.body.sha256);
        arrived.push({ photo, way: 'put', bytes });
      }
      return [
        ...arrived,
        ...(await byCommits(material, owner, photos)),
        ...(await byLink(material, owner, photos)),
        ...(await fromLibrary(photos)),
      ];
    },
    async close() {
      await material.close();
      await stock.close();
    },
  };

  async function fromLibrary(photos: readonly Photograph[]): Promise<Arrived[]> {
    const { body } = await owner.call('POST', '/v1/photos/search', { body: { query: 'bread' } });
    const arrived: Arrived[] = [];
    for (const photo of photos) {
      stock.serve(photo.bytes);
      const placed = await owner.call('POST', `/v1/sites/${owner.siteId}/photos`, {
        body: { photo_id: body.items[0].id, path: `src/assets/stock-${photo.name}` },
      });
      const bytes = await read(requirePath(placed));
      requireHash(bytes, placed.body.sha256);
      arrived.push({ photo, way: 'stock', bytes });
    }
    return arrived;
  }
}

type Owner = Awaited<ReturnType<Material['owner']>>;

async function byCommits(material: Material, owner: Owner, photos: readonly Photograph[]): Promise<Arrived[]> {
  for (let at = 0; at < photos.length; at += together) {
    // In any folder: also where the build takes files of every kind.
    const changes = photos.slice(at, at + together).flatMap(({ name, bytes }) =>
      [`src/assets/commit-${name}`, `src/pages/commit-${name}`].map((path) => ({
        path,
        base64: bytes.toString('base64'),
      })),
    );
    const { status, text } = await owner.call('POST', `/v1/sites/${owner.siteId}/commits`, {
      body: { message: 'Add photos', changes },
    });
    if (status !== 200) throw new Error(text);
  }
  const arrived: Arrived[] = [];
  for (const photo of photos) {
    for (const folder of ['src/assets', 'src/pages']) {
      const bytes = await material.bytes(owner.siteId, `${folder}/commit-${photo.name}`);
      arrived.push({ photo, way: `commit to ${folder}`, bytes });
    }
  }
  return arrived;
}

async function byLink(material: Material, owner: Owner, photos: readonly Photograph[]): Promise<Arrived[]> {
  const link = await material.link(owner, owner.siteId, { max_files: 1000 });
  const arrived: Arrived[] = [];
  for (const photo of photos) {
    const sent = await material.send(link, photo.name, photo.bytes);
    const bytes = await material.bytes(owner.siteId, requirePath(sent));
    if (sent.body.bytes !== bytes.length) throw new Error('the page names another length than that of the stored file');
    arrived.push({ photo, way: 'link', bytes });
  }
  return arrived;
}

function requirePath({ body, text }: { body: { path?: string }; text: string }): string {
  if (body.path === undefined) throw new Error(text);
  return body.path;
}

function requireHash(bytes: Buffer, sha256: string): void {
  if (hashOf(bytes) !== sha256) throw new Error('the answer names the hash of other bytes');
}

/** What a photo's bytes still say about its camera and place. */
export function tracesIn(bytes: Buffer, { secrets }: Photograph): string[] {
  return secrets.filter((secret) => bytes.includes(secret)).map((secret) => secret.toString('latin1'));
}
