/** What the e-mails about a domain share. */
import type { Block } from './layout.ts';

export const domainFooter = 'You are receiving this e-mail because your account here uses this domain.';

/** A button to the owner's page, where owners can sign in. */
export function accountButton(account: string | null | undefined, label: string): Block[] {
  return account ? [{ button: { label, url: account } }] : [];
}
