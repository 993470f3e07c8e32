import { type WrittenMail, write } from './layout.ts';

/** To the account of a domain whose TXT record has disappeared. */
export function domainProofMissing(data: { domain: string; recordName: string; value: string }): WrittenMail {
  return write({
    subject: `A DNS record of ${data.domain} is missing`,
    preview: 'Without it, another account can claim the domain.',
    heading: `A DNS record of ${data.domain} is missing`,
    blocks: [
      'This TXT record proves that the domain is yours. We no longer find it in the DNS:',
      {
        facts: [
          ['Name', data.recordName],
          ['Value', data.value],
        ],
      },
      'Your website stays online. If the record is still missing after 24 hours, another account that can change the DNS of this domain can claim it. To keep the domain, set the record again at your DNS provider and leave it there.',
    ],
    footer: 'You are receiving this e-mail because your account here uses this domain.',
  });
}
