/** Requests a page over plain HTTP at one address, as the authority would, to check that this host is ours. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';

const timeoutMs = 5_000;
const bytesMax = 1024;

/** The response body; undefined if it is larger than 1 KiB or the status is not 200. Follows no redirects. */
export function probeHttp(at: {
  address: string;
  port: number;
  host: string;
  path: string;
}): Promise<string | undefined> {
  const { address, port, host, path } = at;
  return new Promise((resolve) => {
    const done = (text?: string) => {
      clearTimeout(timer);
      resolve(text);
      asked.destroy();
    };
    const asked = request({ host: address, port, path, agent: false, headers: { host, 'user-agent': 'frontage' } });
    const timer = setTimeout(done, timeoutMs);
    asked.on('error', () => done());
    asked.on('response', (answer) => {
      if (answer.statusCode !== 200) return done();
      let text = '';
      answer.setEncoding('latin1');
      answer.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > bytesMax) done();
      });
      answer.on('end', () => done(text));
      answer.on('error', () => done());
    });
    asked.end();
  });
}

/** The path for a token (RFC 8555 section 8.3). */
export const challengePath = (token: string): string => `/.well-known/acme-challenge/${token}`;

/** A token of our own, to check a host before the authority has issued one. */
export const newProbeToken = (): string => `look-${randomBytes(24).toString('base64url')}`;
