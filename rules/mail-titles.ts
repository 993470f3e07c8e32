/** A site's title in e-mails to people who may not know its owner. */
import { isLinked } from './addresses-in-text.ts';

/**
 * The title on one line, or the host name in place of one that contains an address: many mail programs make a link of
 * anything that looks like one.
 */
export function mailTitleOf(title: string, hostname: string): string {
  // Line breaks, control characters, and those that change the direction of writing.
  const line = title.replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
  const visible = line.replace(/\p{Cf}/gu, '');
  return visible === '' || isLinked(visible) ? hostname : line;
}
