/** Examples of the mails about a domain. */
import type { MailSample } from './mail-samples.ts';

type DomainKind = 'domain-live' | 'domain-trouble' | 'domain-proof-missing';

/** `account` and `choices` are the owner's pages. */
export function domainSamples(about: { domain: string; account: string; choices: string }): {
  [Kind in DomainKind]: MailSample<Kind>[];
} {
  const { domain, account } = about;
  const address = `https://${domain}`;
  const elsewhere = `${domain} points to other addresses: 192.0.2.9. Remove them, or disable the proxy that returns them.`;
  const record = { recordName: `_frontage.${domain}`, value: 'frontage-verify=5f2c8b1e' };
  return {
    'domain-live': [
      { data: { ...about, address, isAgain: false } },
      { case: 'again', data: { ...about, address, isAgain: true } },
    ],
    'domain-trouble': [{ data: { ...about, problems: [elsewhere] } }],
    'domain-proof-missing': [{ data: { domain, account, ...record } }],
  };
}
