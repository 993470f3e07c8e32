/** Pexels (its API documentation, "Photos"). Photos may be stored; authors should be named. 200 requests an hour. */
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { z } from 'zod';
import { type LibraryPhoto, type PhotoLibrary, PhotosFault } from '#providers/photos.ts';

const silenceMs = 15_000;
const fileMs = 120_000;
const thumbBytesMax = 1_048_576;
const perSearch = 24;
/** The maximum width that a page of a site needs. */
const widthMax = 2560;

const photo = z.object({
  id: z.number(),
  width: z.number().int(),
  height: z.number().int(),
  url: z.url(),
  photographer: z.string(),
  photographer_url: z.url(),
  alt: z.string().nullish(),
  src: z.object({ original: z.url(), medium: z.url() }),
});
const found = z.object({ photos: z.array(photo) });

/** `url` is the API's address; files are fetched only from `fileHosts`, whatever a response says. */
export function openPexels({
  key,
  url,
  fileHosts,
}: {
  key: string;
  url: string;
  fileHosts: readonly string[];
}): PhotoLibrary {
  return {
    name: 'pexels',
    searchesPerHour: 200,
    async search(query) {
      const address = new URL('/v1/search', url);
      address.search = new URLSearchParams({ query, per_page: String(perSearch) }).toString();
      const answer = await ask(address, silenceMs, { authorization: key });
      const body = found.safeParse(await answer.json().catch(laterFault));
      if (!body.success) throw new PhotosFault('later', body.error);
      return body.data.photos.map(read);
    },
    async file({ fileUrl }) {
      const answer = await ask(fileAddress(fileUrl, fileHosts), fileMs);
      // A stream that breaks off before it is read must not end the process.
      return Readable.fromWeb(answer.body as ReadableStream).on('error', () => {});
    },
    async thumb({ thumbUrl }) {
      const answer = await ask(fileAddress(thumbUrl, fileHosts), silenceMs);
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
        bytes += chunk.length;
        if (bytes > thumbBytesMax) throw new PhotosFault('refused');
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    },
  };
}

function read({
  id,
  width,
  height,
  url,
  photographer,
  photographer_url,
  alt,
  src,
}: z.output<typeof photo>): LibraryPhoto {
  const file = new URL(src.original);
  file.search = new URLSearchParams({ auto: 'compress', cs: 'tinysrgb', fm: 'jpg', w: String(widthMax) }).toString();
  return {
    reference: String(id),
    description: alt?.trim() || 'A photo without a description',
    width,
    height,
    creditName: photographer,
    creditUrl: photographer_url,
    pageUrl: url,
    fileUrl: file.href,
    thumbUrl: src.medium,
  };
}

function fileAddress(text: string, hosts: readonly string[]): URL {
  const address = new URL(text);
  if (hosts.includes(address.host)) return address;
  throw new PhotosFault('refused', new Error('the photo library returned a URL on an unexpected host'));
}

async function ask(address: URL, withinMs: number, headers: Record<string, string> = {}): Promise<Response> {
  const signal = AbortSignal.timeout(withinMs);
  const answer = await fetch(address, { headers, signal, redirect: 'error' }).catch(laterFault);
  if (answer.ok && answer.body) return answer;
  await answer.body?.cancel();
  if (answer.status === 429) throw new PhotosFault('busy');
  throw new PhotosFault(answer.status >= 500 ? 'later' : 'refused', new Error(`status ${answer.status}`));
}

function laterFault(error: unknown): never {
  throw new PhotosFault('later', error);
}
