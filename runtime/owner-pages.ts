/** Addresses of an owner's pages, for e-mails. */
import type { Config } from './config.ts';

type Pages = Pick<Config, 'baseUrl' | 'emailSignIn'>;

export type OwnerPath = `/account${string}`;

/** The page with this path; null where owners cannot sign in. */
export function ownerPage({ baseUrl, emailSignIn }: Pages, path: OwnerPath): string | null {
  return emailSignIn ? `${baseUrl}${path}` : null;
}

/** Where an owner chooses their e-mails. */
export const mailChoicesPath = '/account/mails';

/** The pages that an e-mail to an owner links to, if they can switch it off: the one at this path, and their choices. */
export function ownerLinks(config: Pages, path: OwnerPath): { account: string | null; choices: string | null } {
  return { account: ownerPage(config, path), choices: ownerPage(config, mailChoicesPath) };
}
