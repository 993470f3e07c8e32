/** A library over HTTP that speaks as Pexels does, and fails as it may. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as sample from '#test/git/samples.ts';

export type Failure = 'none' | 'busy' | 'down' | 'refuses' | 'babbles' | 'elsewhere' | 'breaks' | 'silent';

export const words = 'Pexels-internal-words api_key=abc images.pexels.com stack trace';

export async function startLibrary() {
  let failure: Failure = 'none';
  let photo: Buffer = sample.jpgOf(1600, 900);
  const searches: { query: string; key: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', base);
    if (url.pathname.startsWith('/files/')) {
      if (failure === 'breaks') {
        response.writeHead(200, { 'content-length': 1000 });
        return void response.write(sample.jpg, () => response.destroy());
      }
      if (failure === 'down') return void response.writeHead(500).end(words);
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(photo);
    }
    searches.push({ query: url.searchParams.get('query') ?? '', key: request.headers.authorization });
    if (failure === 'busy') return void response.writeHead(429, { 'x-reason': words }).end(words);
    if (failure === 'down') return void response.writeHead(503).end(words);
    if (failure === 'refuses') return void response.writeHead(401).end(words);
    if (failure === 'babbles') return void response.writeHead(200).end(words);
    if (failure === 'silent') return void response.destroy();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ photos: photos() }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function photos() {
    const files = failure === 'elsewhere' ? 'http://localhost:1' : base;
    return [101, 102].map((id) => ({
      id,
      width: 6000,
      height: 4000,
      url: `https://www.pexels.com/photo/${id}/`,
      photographer: `Ann Author ${id}`,
      photographer_url: 'https://www.pexels.com/@ann',
      alt: id === 101 ? 'Bread on a board' : '',
      src: { original: `${files}/files/${id}.jpeg`, medium: `${files}/files/${id}.jpeg?h=350` },
    }));
  }

  return {
    env: {
      FRONTAGE_PHOTOS: 'pexels',
      FRONTAGE_PEXELS_KEY: 'the key of the tests',
      FRONTAGE_PEXELS_URL: base,
      FRONTAGE_PEXELS_FILE_HOSTS: new URL(base).host,
    },
    searches,
    fail: (how: Failure) => {
      failure = how;
    },
    /** What the library sends from now on. */
    serve: (bytes: Buffer) => {
      photo = bytes;
    },
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
