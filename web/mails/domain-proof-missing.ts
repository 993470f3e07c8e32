import { domainFooter } from './domain-blocks.ts';
import { accountButton, type WrittenMail, write } from './layout.ts';

export type DomainProofMissing = {
  domain: string;
  recordName: string;
  value: string;
  /** The owner's page; none where owners cannot sign in, and in e-mails that an earlier release queued. */
  account?: string | null;
};

/** To the account of a domain whose TXT record has disappeared, after two checks have missed it. */
export function domainProofMissing({ domain, recordName, value, account }: DomainProofMissing): WrittenMail {
  return write({
    subject: 'A DNS record of your domain is missing',
    hostname: domain,
    preview: 'Without it, another account can claim the domain.',
    heading: `${domain} has lost a DNS record`,
    blocks: [
      'This TXT record proves that the domain is yours. We no longer find it in the DNS:',
      {
        facts: [
          ['Name', recordName],
          ['Value', value],
        ],
      },
      'Your website stays online. If the record is still missing after 24 hours, another account that can change the DNS of this domain can claim it. To keep the domain, set the record again at your DNS provider and leave it there.',
      ...accountButton(account, 'See the domain'),
    ],
    footer: domainFooter,
  });
}
