import { domainFooter } from './domain-blocks.ts';
import { accountButton, type WrittenMail, write } from './layout.ts';

export type DomainLive = {
  domain: string;
  /** Where visitors see the website; null while the domain shows none. */
  address: string | null;
  /** After trouble, of which the account was e-mailed. */
  isAgain: boolean;
  /** The owner's page; null where owners cannot sign in. */
  account: string | null;
  /** Where the owner chooses their e-mails. */
  choices: string | null;
};

/** To the account of a domain that is live: for the first time, or again after trouble. */
export function domainLive({ domain, address, isAgain, account, choices }: DomainLive): WrittenMail {
  const does = isAgain ? 'works again' : 'is live';
  const shows =
    address === null
      ? `${domain} is connected, but it shows no website yet. Tell your agent which of your websites to show there.`
      : `Visitors see your website at ${address}.`;
  return write({
    subject: `Your domain ${does}`,
    hostname: domain,
    preview: shows,
    heading: `${domain} ${does}`,
    blocks: [
      shows,
      ...(isAgain ? ['Its DNS is right again. There is nothing left to do.'] : []),
      ...accountButton(account, 'See the domain'),
    ],
    footer: domainFooter,
    choices,
  });
}
