/** Addresses of an owner's pages, for e-mails. */
import type { Config } from './config.ts';

type Pages = Pick<Config, 'baseUrl' | 'emailSignIn'>;

/** The page with this path; null where owners cannot sign in. */
export function ownerPage({ baseUrl, emailSignIn }: Pages, path: `/account${string}`): string | null {
  return emailSignIn ? `${baseUrl}${path}` : null;
}

/** Where an owner chooses their e-mails. */
export const mailChoicesPath = '/account/mails';

/** The pages that an e-mail to an owner links to, if they can switch it off. */
export function ownerLinks(config: Pages): { account: string | null; choices: string | null } {
  return { account: ownerPage(config, '/account'), choices: ownerPage(config, mailChoicesPath) };
}
