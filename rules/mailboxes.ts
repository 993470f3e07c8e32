/** Addresses as mailboxes. */

/** Spellings that many providers deliver to one mailbox are counted as one: dots, and what follows a plus sign. */
export function mailboxOf(address: string): string {
  const [, local = '', domain = ''] = /^(.*)@(.*)$/.exec(address.toLowerCase()) ?? [];
  return `${local.replace(/\+.*$/, '').replaceAll('.', '')}@${domain}`;
}
