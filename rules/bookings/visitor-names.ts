/** Names of visitors. They are in e-mails, where many programs make a link of anything that looks like an address. */
import { parse } from 'tldts';

/** Whether part of the name looks like an e-mail address, an IP address or a host below a known ending. */
export function containsAddress(name: string): boolean {
  const plain = name.normalize('NFKC').replace(/[。｡]/g, '.');
  if (plain.includes('@')) return true;
  return (plain.match(/[\p{L}\p{N}.-]+/gu) ?? []).some((word) => {
    const { isIcann, isIp, domain } = parse(word.replace(/^[.-]+|[.-]+$/g, ''));
    return isIp === true || (isIcann === true && domain !== null);
  });
}
