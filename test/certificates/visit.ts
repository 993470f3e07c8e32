/** A visitor over TLS, by HTTP/1.1 or HTTP/2, who trusts this root and no other. */
import { type ClientHttp2Session, connect as connectHttp2, type Settings } from 'node:http2';
import { request } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';

export type Visit = { status: number; headers: Record<string, string | undefined>; body: Buffer; text: string };
export type Trip = {
  port: number;
  host: string;
  root: string;
  method?: string;
  headers?: Record<string, string>;
  /** The visitor's own address. */
  localAddress?: string;
};

export function visit(path: string, { port, host, root, method = 'GET', headers = {}, ...from }: Trip): Promise<Visit> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path,
      method,
      servername: host,
      ca: root,
      agent: false as const,
      ...from,
    };
    const asked = request({ ...options, headers: { host, ...headers } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers as Visit['headers'],
          body,
          text: body.toString(),
        });
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

export async function openSession(
  { port, host, root, localAddress }: Trip,
  settings: Settings = {},
): Promise<ClientHttp2Session> {
  const options = { host: '127.0.0.1', servername: host, ca: root, localAddress, settings };
  const session = connectHttp2(`https://${host}:${port}`, options as never);
  await new Promise((resolve, reject) => {
    session.once('connect', resolve);
    session.once('error', reject);
  });
  return session;
}

export function askStream(
  session: ClientHttp2Session,
  path: string,
  { host, method = 'GET', headers = {} }: Omit<Trip, 'root' | 'port'>,
) {
  return new Promise<Visit>((resolve, reject) => {
    const stream = session.request({ ':path': path, ':method': method, ':authority': host, ...headers });
    const chunks: Buffer[] = [];
    let got: Record<string, string | undefined> & { ':status'?: number } = {};
    stream.on('response', (fields) => {
      got = fields as typeof got;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('end', () => {
      const body = Buffer.concat(chunks);
      resolve({ status: Number(got[':status']), headers: got, body, text: body.toString() });
    });
    stream.end();
  });
}

/** The same over HTTP/2, with a connection of its own. */
export async function visitHttp2(path: string, trip: Trip): Promise<Visit> {
  const session = await openSession(trip);
  try {
    return await askStream(session, path, trip);
  } finally {
    session.close();
  }
}

/** A handshake; the socket is the caller's to end. */
export function shake(
  options: ConnectionOptions & { port: number; servername?: string; allowHalfOpen?: boolean },
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', ...options }, () => resolve(socket));
    socket.once('error', reject);
  });
}
