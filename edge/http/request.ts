/** The fields of a request that decide an answer, taken from the raw list in one pass: `req.headers` costs as much as an answer. */
import { type RequestAddress, readAddress } from '#edge/routing/hosts.ts';

export type RequestFields = {
  /** Absent when the request has none or several: both are a fault (RFC 9112 section 3.2). */
  host: string | undefined;
  acceptEncoding: string | undefined;
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
  range: string | undefined;
  ifRange: string | undefined;
  hasBody: boolean;
  // What views are counted by, and no answer depends on.
  userAgent: string | undefined;
  referer: string | undefined;
  /** Why a browser asks, where that is not because somebody looks (`Sec-Purpose`, `Purpose`). */
  purpose: string | undefined;
  /** What a browser wants it for (`Sec-Fetch-Dest`). */
  fetchDestination: string | undefined;
};

/** What a visitor asks, however it came. */
export type VisitorRequest = {
  /** Whether it came over TLS to us. */
  isSecure: boolean;
  /** For which host its connection asked for a certificate (SNI); absent without TLS. */
  servername: string | undefined;
  method: string;
  target: string;
  /** Of whom it asks and for what; undefined for a request that is no good. */
  address: RequestAddress | undefined;
  fields: RequestFields;
  /** All names and values in turn. */
  raw: readonly string[];
};

/** The request that a request line and its fields make, over TLS where a server's name was asked for. */
export function requestOf(
  line: { method: string; target: string; servername: string | undefined },
  raw: string[],
  fields = readFields(raw),
): VisitorRequest {
  const { method, target, servername } = line;
  const address = readAddress(target, fields.host);
  return { isSecure: servername !== undefined, servername, method, target, address, fields, raw };
}

/** Reads names and values in turn, as `IncomingMessage.rawHeaders` has them. */
export function readFields(raw: string[]): RequestFields {
  let hosts = 0;
  const fields: RequestFields = {
    host: undefined,
    acceptEncoding: undefined,
    ifMatch: undefined,
    ifNoneMatch: undefined,
    range: undefined,
    ifRange: undefined,
    hasBody: false,
    userAgent: undefined,
    referer: undefined,
    purpose: undefined,
    fetchDestination: undefined,
  };
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] as string;
    const value = raw[i + 1] as string;
    // The length tells nearly all names apart before any letter is looked at.
    switch (name.length) {
      case 4:
        if (is(name, 'host') && hosts++ === 0) fields.host = value;
        break;
      case 5:
        if (is(name, 'range')) fields.range = joined(fields.range, value);
        break;
      case 7:
        if (is(name, 'referer')) fields.referer = value;
        else if (is(name, 'purpose')) fields.purpose = value;
        break;
      case 8:
        if (is(name, 'if-match')) fields.ifMatch = joined(fields.ifMatch, value);
        else if (is(name, 'if-range')) fields.ifRange = joined(fields.ifRange, value);
        break;
      case 10:
        if (is(name, 'user-agent')) fields.userAgent = value;
        break;
      case 11:
        if (is(name, 'sec-purpose')) fields.purpose = value;
        break;
      case 13:
        if (is(name, 'if-none-match')) fields.ifNoneMatch = joined(fields.ifNoneMatch, value);
        break;
      case 14:
        if (is(name, 'content-length') && value !== '0') fields.hasBody = true;
        else if (is(name, 'sec-fetch-dest')) fields.fetchDestination = value;
        break;
      case 15:
        if (is(name, 'accept-encoding')) fields.acceptEncoding = joined(fields.acceptEncoding, value);
        break;
      case 17:
        if (is(name, 'transfer-encoding')) fields.hasBody = true;
        break;
    }
  }
  if (hosts !== 1) fields.host = undefined;
  return fields;
}

function is(name: string, lower: string): boolean {
  return name === lower || name.toLowerCase() === lower;
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}
