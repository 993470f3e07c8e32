/** Names that no site may have: hosts that people, mail and certificates expect of a domain's owner, and the platform's own. */
const reserved = new Set(
  `abuse account accounts acme admin administrator api app apps assets auth autoconfig autodiscover billing blog book bookings
  cdn ci connect console dashboard demo dev dns docs domains edge email files forms frontage ftp git graphql health help
  hostmaster imap invite internal localhost login mail mailer mcp media metrics mta-sts news ns ns1 ns2 ns3 ns4 oauth pay payments
  pop pop3 postmaster preview previews proxy registry root secure security shop signin signup sites sketch sketches smtp ssh ssl
  staging static stats status store support sysadmin system test tls token upload uploads users vpn webmail webmaster whois wpad www
  www1 www2`.split(/\s+/),
);

export function isReserved(name: string): boolean {
  return reserved.has(name);
}
