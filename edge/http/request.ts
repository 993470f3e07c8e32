/** The request fields that decide a response, read from the raw list in one pass: `req.headers` costs as much as a whole response. */
import { type RequestAddress, readAddress } from '#edge/routing/hosts.ts';

export type RequestFields = {
  /** Absent if the request has none or several, which is an error (RFC 9112 section 3.2). */
  host: string | undefined;
  acceptEncoding: string | undefined;
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
  range: string | undefined;
  ifRange: string | undefined;
  hasBody: boolean;
  // For counting views only.
  userAgent: string | undefined;
  referer: string | undefined;
  /** Why a browser sends the request, for example to prefetch (`Sec-Purpose`, `Purpose`). */
  purpose: string | undefined;
  /** How a browser uses the response (`Sec-Fetch-Dest`). */
  fetchDestination: string | undefined;
};

/** A request, by any protocol. */
export type VisitorRequest = {
  /** Whether it arrived over TLS. */
  isSecure: boolean;
  /** Host of the connection's certificate request (SNI); absent without TLS. */
  servername: string | undefined;
  method: string;
  target: string;
  /** Host and target; undefined for a bad request. */
  address: RequestAddress | undefined;
  fields: RequestFields;
  /** All names and values, alternating. */
  raw: readonly string[];
};

/** Creates a request. It is secure if it has a server name. */
export function requestOf(
  line: { method: string; target: string; servername: string | undefined },
  raw: string[],
  fields = readFields(raw),
): VisitorRequest {
  const { method, target, servername } = line;
  const address = readAddress(target, fields.host);
  return { isSecure: servername !== undefined, servername, method, target, address, fields, raw };
}

/** Reads alternating names and values, as in `IncomingMessage.rawHeaders`. */
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
    // The length distinguishes nearly all names without comparing letters.
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
