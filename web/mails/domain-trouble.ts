import { domainFooter } from './domain-blocks.ts';
import { accountButton, type WrittenMail, write } from './layout.ts';

export type DomainTrouble = {
  domain: string;
  /** The sentences that the owner's page shows. */
  problems: string[];
  /** The owner's page; null where owners cannot sign in. */
  account: string | null;
  /** Where the owner chooses their e-mails. */
  choices: string | null;
};

/** To the account of a domain that is not registered any more or points elsewhere, after two checks have seen it. */
export function domainTrouble({ domain, problems, account, choices }: DomainTrouble): WrittenMail {
  return write({
    subject: 'Something is wrong with your domain',
    hostname: domain,
    preview: problems[0] ?? '',
    heading: `${domain} has a problem in its DNS`,
    blocks: [
      ...problems,
      'Until this is solved, visitors may not see your website there. We keep checking, and the domain works again soon after its DNS is right.',
      account === null
        ? 'Your agent can tell you which records to set at your DNS provider.'
        : 'The page of the domain shows which records to set at your DNS provider:',
      ...accountButton(account, 'See what to set'),
    ],
    footer: domainFooter,
    choices,
  });
}
