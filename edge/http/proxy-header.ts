/**
 * The header by which a front says whom a connection is from, in both of its forms: "The PROXY protocol, versions 1 & 2" by HAProxy
 * Technologies (`doc/proxy-protocol.txt` of HAProxy). Pure.
 */
import { isIPv4, isIPv6 } from 'node:net';

export type ProxyHeader =
  /** More of it has to come. */
  | { status: 'begun' }
  | { status: 'wrong' }
  /** How long it is, and the visitor's address; none where the front speaks for itself, as it does to see whether we are ready. */
  | { status: 'read'; bytes: number; address: string | undefined };

const wrong = { status: 'wrong' } as const;
const begun = { status: 'begun' } as const;

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const fixedBytes = 16;
/** The longest line of version 1, with its end. */
const lineMax = 107;
/** Addresses with everything that fronts add about a connection. */
const headerMax = 4 * 1024;

/** Reads the beginning of a connection. Nothing after the header is looked at. */
export function readProxyHeader(data: Buffer): ProxyHeader {
  const isSecond = data[0] === signature[0];
  return isSecond ? readSecond(data) : readFirst(data);
}

function readFirst(data: Buffer): ProxyHeader {
  const word = 'PROXY ';
  if (!word.startsWith(data.toString('latin1', 0, word.length))) return wrong;
  const end = data.subarray(0, lineMax).indexOf('\r\n');
  if (end < 0) return data.length < lineMax ? begun : wrong;
  const bytes = end + 2;
  const line = data.toString('latin1', 0, end);
  if (/^PROXY UNKNOWN(?: |$)/.test(line)) return { status: 'read', bytes, address: undefined };
  const [, family, from = '', to = '', ...ports] = /^PROXY TCP([46]) (\S+) (\S+) (\d+) (\d+)$/.exec(line) ?? [];
  const isAddress = family === '4' ? isIPv4 : isIPv6;
  const isPort = (port: string) => /^(?:0|[1-9]\d{0,4})$/.test(port) && Number(port) < 65_536;
  if (family === undefined || !isAddress(from) || !isAddress(to) || !ports.every(isPort)) return wrong;
  return { status: 'read', bytes, address: from };
}

function readSecond(data: Buffer): ProxyHeader {
  const seen = Math.min(data.length, signature.length);
  if (data.compare(signature, 0, seen, 0, seen) !== 0) return wrong;
  if (data.length < fixedBytes) return begun;
  const command = data[12] as number;
  const bytes = fixedBytes + data.readUInt16BE(14);
  // Version 2, LOCAL or PROXY.
  if (command !== 0x20 && command !== 0x21) return wrong;
  if (bytes > headerMax) return wrong;
  if (data.length < bytes) return begun;
  if (command === 0x20) return { status: 'read', bytes, address: undefined };
  return addressIn(data, bytes);
}

/** TCP over IPv4 and IPv6 have one; of what else a front may take connections, none is known (section 2.2). */
function addressIn(data: Buffer, bytes: number): ProxyHeader {
  const family = data[13] as number;
  const held = bytes - fixedBytes;
  if (family === 0x11)
    return held < 12 ? wrong : { status: 'read', bytes, address: [...data.subarray(16, 20)].join('.') };
  if (family !== 0x21) return { status: 'read', bytes, address: undefined };
  if (held < 36) return wrong;
  const groups = Array.from({ length: 8 }, (_, n) => data.readUInt16BE(fixedBytes + 2 * n).toString(16));
  return { status: 'read', bytes, address: groups.join(':') };
}
