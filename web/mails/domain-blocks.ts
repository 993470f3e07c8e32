/** What the e-mails about a domain share. */
export const domainFooter = 'You are receiving this e-mail because your account here uses this domain.';
