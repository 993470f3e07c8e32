/** Files that arrive slowly. */
import { readdir, readlink } from 'node:fs/promises';
import { type RequestOptions, request } from 'node:http';

/** A PUT whose body comes in pieces. */
export const openPut = (token: string, url: string) =>
  openCall(url, { method: 'PUT', headers: { authorization: `Bearer ${token}` } });

/** A file that is sent to an upload link in pieces. */
export const openSend = (url: string, name: string) =>
  openCall(url, { method: 'POST', headers: { 'x-file-name': name, accept: 'application/json' } });

function openCall(url: string, how: RequestOptions) {
  const call = request(url, how);
  const answer = new Promise<{ status: number; body: { error?: { code: string } } }>((resolve, reject) => {
    call.on('error', reject);
    call.on('response', (got) => {
      let text = '';
      got.setEncoding('utf8').on('data', (piece) => (text += piece));
      got.on('end', () => resolve({ status: got.statusCode ?? 0, body: JSON.parse(text) }));
    });
  });
  answer.catch(() => {});
  return {
    answer,
    write: (bytes: Buffer) => new Promise<void>((resolve) => call.write(bytes, () => resolve())),
    /** Waits until the API has asked the database for the site, and so has read what stands at the path. */
    begun: () => waitForOpenFile(),
    end(bytes: Buffer) {
      call.end(bytes);
      return answer;
    },
    destroy: () => call.destroy(),
  };
}

/** The API is this process: the nameless file of a body that arrives is among its open ones. */
async function waitForOpenFile(): Promise<void> {
  for (;;) {
    const links = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    if (links.some((link) => link.includes('/incoming/'))) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
