/** Requests of git's protocol made by hand, for what the real command would never send. */
import { type ClientRequest, request } from 'node:http';
import type { Platform } from './platform.ts';

/** Splits the user name and password off an address, as fetch wants it. */
export function opened(address: string) {
  const { username, password, origin, pathname } = new URL(address);
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return { url: origin + pathname, authorization: `Basic ${basic}` };
}

export async function get(address: string, path: string, headers: Record<string, string> = {}) {
  const { url, authorization } = opened(address);
  const response = await fetch(url + path, { headers: { authorization, ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export async function post(
  address: string,
  service: string,
  body: Uint8Array<ArrayBuffer> | string,
  headers: Record<string, string> = {},
) {
  const { url, authorization } = opened(address);
  const response = await fetch(`${url}/${service}`, {
    method: 'POST',
    headers: { authorization, 'content-type': `application/x-${service}-request`, ...headers },
    body,
  });
  const text = unframed(Buffer.from(await response.arrayBuffer()));
  return { status: response.status, type: response.headers.get('content-type'), text };
}

/** What an answer says, without the frames of its bands (gitprotocol-pack(5)): git cuts them wherever its hook pauses. */
function unframed(answer: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at < answer.length; ) {
    const length = Number.parseInt(answer.toString('latin1', at, at + 4), 16);
    if (Number.isNaN(length)) return answer.toString();
    const banded = (answer[at + 4] ?? 0) <= 3;
    parts.push(answer.subarray(at + (banded ? 5 : 4), at + length));
    at += Math.max(4, length);
  }
  return Buffer.concat(parts).toString();
}

/** Sends the beginning of a fetch and goes on holding the line. */
export async function startFetch(platform: Platform, siteId: string, origin = platform.url): Promise<ClientRequest> {
  const sending = await start('git-upload-pack', platform, siteId, origin);
  sending.write('0014command=ls-refs\n');
  return sending;
}

async function start(service: string, platform: Platform, siteId: string, origin: string): Promise<ClientRequest> {
  const address = new URL(await platform.address(siteId, { seconds: 86_400 }));
  const { authorization } = opened(address.href);
  const sending = request(`${origin}${address.pathname}/${service}`, {
    method: 'POST',
    headers: { authorization, 'content-type': `application/x-${service}-request`, 'git-protocol': 'version=2' },
  });
  return sending.on('error', () => {});
}

/** Sends the beginning of a push and goes on holding the line. */
export async function startPush(platform: Platform, siteId: string, origin = platform.url): Promise<ClientRequest> {
  const sending = await start('git-receive-pack', platform, siteId, origin);
  const head = (await platform.repositories.head(siteId, 'source')) ?? '';
  const text = `${head} ${'1'.repeat(40)} refs/heads/main\0 report-status side-band-64k`;
  sending.write(`${(text.length + 4).toString(16).padStart(4, '0')}${text}0000PACK`);
  sending.write(Buffer.from([0, 0, 0, 2, 0, 0, 1, 0]));
  return sending;
}
