/** Renewal information (RFC 9773): when the authority wants a certificate renewed. */
import { X509Certificate } from 'node:crypto';
import type * as acme from 'acme-client';
import { hourMs } from '#rules/time.ts';

/** Any moment between `from` and `to` is suitable; check again after `askAgainMs`. */
export type Renewal = { from: Date; to: Date; askAgainMs: number };

/** Undefined if the authority has no renewal information, or none for this certificate. */
export async function fetchRenewalInfo(
  http: typeof acme.axios,
  directoryUrl: string,
  chain: string,
): Promise<Renewal | undefined> {
  const id = renewalId(chain);
  const { renewalInfo } = (await http.get(directoryUrl)).data as { renewalInfo?: string };
  if (!renewalInfo || !id) return undefined;
  const { data, headers } = await http.get(`${renewalInfo}/${id}`);
  const window = (data as { suggestedWindow?: { start?: string; end?: string } }).suggestedWindow;
  const [from, to] = [new Date(window?.start ?? ''), new Date(window?.end ?? '')];
  if (!(from.getTime() <= to.getTime())) return undefined;
  const said = Number(headers['retry-after']) * 1000;
  // Section 4.3.1: limits the authority's value to a reasonable range.
  const askAgainMs = Math.min(Math.max(said || 6 * hourMs, hourMs), 24 * hourMs);
  return { from, to, askAgainMs };
}

/**
 * The authority's id for the certificate (section 4.1): the issuer's key and the serial number. Undefined if the
 * certificate does not name the key.
 */
export function renewalId(chain: string): string | undefined {
  const certificate = new X509Certificate(chain);
  const issuer = authorityKeyOf(certificate.raw);
  if (!issuer) return undefined;
  const digits = certificate.serialNumber.length % 2 ? `0${certificate.serialNumber}` : certificate.serialNumber;
  const serial = Buffer.from(digits, 'hex');
  // As the integer is encoded in the certificate: a first byte above 0x7f would make it negative.
  const number = (serial[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.from([0]), serial]) : serial;
  return `${issuer.toString('base64url')}.${number.toString('base64url')}`;
}

/** The key identifier in extension 2.5.29.35 (RFC 5280 section 4.2.1.1): OCTET STRING { SEQUENCE { [0] key … } }. */
function authorityKeyOf(der: Buffer): Buffer | undefined {
  const at = der.indexOf(Buffer.from('0603551d23', 'hex')) + 5;
  if (at < 5 || der[at] !== 0x04 || der[at + 2] !== 0x30 || der[at + 4] !== 0x80) return undefined;
  return der.subarray(at + 6, at + 6 + (der[at + 5] ?? 0));
}
