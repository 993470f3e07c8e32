/** The header of "The PROXY protocol, versions 1 & 2" by HAProxy Technologies (`doc/proxy-protocol.txt` of HAProxy). Pure. */
import { isIPv4, isIPv6 } from 'node:net';

export type ProxyHeader =
  | { status: 'incomplete' }
  | { status: 'invalid' }
  /** Its length and the visitor's address. Without an address if the proxy connects for itself, as for health checks. */
  | { status: 'complete'; bytes: number; address: string | undefined };

const invalid = { status: 'invalid' } as const;
const incomplete = { status: 'incomplete' } as const;

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const fixedBytes = 16;
/** The longest line of version 1, with its end. */
const lineMax = 107;
/** Addresses with all optional fields of proxies. */
const headerMax = 4 * 1024;

/** Parses the start of a connection, up to the end of the header. */
export function readProxyHeader(data: Buffer): ProxyHeader {
  const isSecond = data[0] === signature[0];
  return isSecond ? readSecond(data) : readFirst(data);
}

function readFirst(data: Buffer): ProxyHeader {
  const word = 'PROXY ';
  if (!word.startsWith(data.toString('latin1', 0, word.length))) return invalid;
  const end = data.subarray(0, lineMax).indexOf('\r\n');
  if (end < 0) return data.length < lineMax ? incomplete : invalid;
  const bytes = end + 2;
  const line = data.toString('latin1', 0, end);
  if (/^PROXY UNKNOWN(?: |$)/.test(line)) return { status: 'complete', bytes, address: undefined };
  const [, family, from = '', to = '', ...ports] = /^PROXY TCP([46]) (\S+) (\S+) (\d+) (\d+)$/.exec(line) ?? [];
  const isAddress = family === '4' ? isIPv4 : isIPv6;
  const isPort = (port: string) => /^(?:0|[1-9]\d{0,4})$/.test(port) && Number(port) < 65_536;
  if (family === undefined || !isAddress(from) || !isAddress(to) || !ports.every(isPort)) return invalid;
  return { status: 'complete', bytes, address: from };
}

function readSecond(data: Buffer): ProxyHeader {
  const seen = Math.min(data.length, signature.length);
  if (data.compare(signature, 0, seen, 0, seen) !== 0) return invalid;
  if (data.length < fixedBytes) return incomplete;
  const command = data[12] as number;
  const bytes = fixedBytes + data.readUInt16BE(14);
  // Version 2, LOCAL or PROXY.
  if (command !== 0x20 && command !== 0x21) return invalid;
  if (bytes > headerMax) return invalid;
  if (data.length < bytes) return incomplete;
  if (command === 0x20) return { status: 'complete', bytes, address: undefined };
  return addressIn(data, bytes);
}

/** TCP over IPv4 and IPv6 has an address; other families have none (section 2.2). */
function addressIn(data: Buffer, bytes: number): ProxyHeader {
  const family = data[13] as number;
  const addressBytes = bytes - fixedBytes;
  if (family === 0x11)
    return addressBytes < 12 ? invalid : { status: 'complete', bytes, address: [...data.subarray(16, 20)].join('.') };
  if (family !== 0x21) return { status: 'complete', bytes, address: undefined };
  if (addressBytes < 36) return invalid;
  const groups = Array.from({ length: 8 }, (_, n) => data.readUInt16BE(fixedBytes + 2 * n).toString(16));
  return { status: 'complete', bytes, address: groups.join(':') };
}
