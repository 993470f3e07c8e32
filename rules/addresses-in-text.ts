/** Addresses in the text of visitors and owners: many mail programs make a link of anything that looks like one. */
import { parse } from 'tldts';

/** Whether part of the text looks like an e-mail address, an IP address or a host below a known ending. */
export function containsAddress(text: string): boolean {
  // A reader does not see format characters, such as a soft hyphen.
  const plain = text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[。｡]/g, '.');
  if (plain.includes('@')) return true;
  return (plain.match(/[\p{L}\p{N}.-]+/gu) ?? []).some((word) => {
    const { isIcann, isIp, domain } = parse(word.replace(/^[.-]+|[.-]+$/g, ''));
    return isIp === true || (isIcann === true && domain !== null);
  });
}

/** Whether part of the text may become a link, also one with a scheme before a host of an unknown ending. */
export const isLinked = (text: string): boolean => text.includes('://') || containsAddress(text);
