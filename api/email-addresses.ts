/** Validation of e-mail addresses. */
import { errors } from '#runtime/errors.ts';

const local = /^[a-z0-9!#$%&'*+/=?^_{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_{|}~-]+)*$/;
const domain = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;

/**
 * Whether the text is an address in its plain form (RFC 5321: a dot-string, `@`, a domain name). Display names, quotes
 * and lists are refused, because mail software could read them differently.
 */
export function isPlainEmail(text: string): boolean {
  const address = text.toLowerCase();
  const at = address.lastIndexOf('@');
  return (
    // Before the change to lower case: some letters outside ASCII become ASCII in it, as the Kelvin sign becomes k.
    /^[\x21-\x7e]{1,254}$/.test(text) &&
    at <= 64 &&
    local.test(address.slice(0, Math.max(0, at))) &&
    domain.test(address.slice(at + 1))
  );
}

/** The address as it is stored, in lower case. Throws `invalid_email`. */
export function readEmail(text: string): string {
  const trimmed = text.trim();
  if (!isPlainEmail(trimmed)) {
    throw errors.invalid_email('This is not a valid e-mail address.', {
      nextAction: 'Send a single address without a display name, such as owner@example.com.',
    });
  }
  return trimmed.toLowerCase();
}
