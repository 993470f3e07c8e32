/** Who is notified of payments on a site. */
import { wantsMail } from '#db/accounts/mail-choices.ts';
import type { EntityManager } from '#db/orm.ts';
import { notifyAccount } from '#db/sites/notify-address.ts';
import type { Site } from '#db/sites/site.ts';
import type { Config } from '#runtime/config.ts';
import { type OwnerPath, ownerLinks } from '#runtime/owner-pages.ts';

/** An address, and the pages of its account that the e-mail links to. */
export type PaymentNotice = { to: string; account: string | null; choices: string | null };

/** `path` is the page that the e-mail links to. Null if that is the owner, who does not want e-mails about payments. A collaborator cannot choose for the site. */
export async function paymentNotice(
  tx: EntityManager,
  config: Pick<Config, 'baseUrl' | 'emailSignIn'>,
  site: Pick<Site, 'account'>,
  { collaboratorId, path }: { collaboratorId: string | null | undefined; path: OwnerPath },
): Promise<PaymentNotice | null> {
  const { id, email: to } = await notifyAccount(tx, site, collaboratorId);
  if (id !== site.account.id) return { to, account: ownerLinks(config, path).account, choices: null };
  return (await wantsMail(tx, id, 'payments')) ? { to, ...ownerLinks(config, path) } : null;
}
