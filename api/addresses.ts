/** Email addresses as people give them. */
import { errors } from '#runtime/errors.ts';

const local = /^[a-z0-9!#$%&'*+/=?^_{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_{|}~-]+)*$/;
const domain = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;

/**
 * Whether it is an address in the plain form alone (RFC 5321: a dot-string, `@`, a domain name): no display name, no quotes, no list, nothing
 * that could be read as something else on its way.
 */
export function isPlainAddress(text: string): boolean {
  const address = text.toLowerCase();
  const at = address.lastIndexOf('@');
  return (
    // Before it is lowered: some letters from elsewhere are ours in lower case, as the sign of the kelvin is k.
    /^[\x21-\x7e]{1,254}$/.test(text) &&
    at <= 64 &&
    local.test(address.slice(0, Math.max(0, at))) &&
    domain.test(address.slice(at + 1))
  );
}

/** The address as it is kept, in lower case. Throws `invalid_email`. */
export function readAddress(text: string): string {
  const trimmed = text.trim();
  if (!isPlainAddress(trimmed)) {
    throw errors.invalid_email('This is not a plain e-mail address.', {
      nextAction: 'Send one address, such as owner@example.com.',
    });
  }
  return trimmed.toLowerCase();
}
