/** Domains of owners. */
import { z } from 'zod';
import { domainModes } from '#rules/states.ts';
import { hostname, list, port, socketAddress, url } from './types.ts';

export const domains = {
  FRONTAGE_DOMAINS: list
    .pipe(z.array(z.enum(domainModes)))
    .default([])
    .describe(
      'How owners’ domains are connected: `nameservers` (the platform hosts the DNS zone), `cname` (the owner’s DNS points to the platform). Empty: custom domains are not offered.',
    ),
  FRONTAGE_EDGE_ADDRESSES: list
    .pipe(z.array(z.union([z.ipv4(), z.ipv6()])))
    .default([])
    .describe('Public IPv4 and IPv6 addresses of the edge. Required if `FRONTAGE_DOMAINS` contains a mode.'),
  FRONTAGE_CNAME_TARGET: hostname
    .or(z.literal(''))
    .default('')
    .describe('CNAME target for domains in the mode `cname`. It must resolve to the edge’s addresses.'),
  FRONTAGE_NAMESERVERS: hostname
    .or(z.literal(''))
    .default('')
    .describe('Parent name of each domain’s own pair of name servers: `<random>.a.<this>` and `<random>.b.<this>`.'),
  FRONTAGE_ZONES_URL: url
    .or(z.literal(''))
    .default('')
    .describe('HTTP API of the platform’s own name server. Required with `nameservers`.'),
  FRONTAGE_ZONES_KEY: z
    .string()
    .default('')
    .describe('API key of the platform’s own name server. Required with `nameservers`.'),
  FRONTAGE_DNS_RESOLVERS: list
    .pipe(z.array(socketAddress))
    .default([])
    .describe('Resolvers for DNS checks, as `address:port`.'),
  FRONTAGE_DNS_PORT: port
    .default(53)
    .describe(
      'Port on which authoritative name servers are queried. With another port than 53, they may have private addresses.',
    ),
  FRONTAGE_DOMAINS_RESERVED: list
    .pipe(z.array(hostname))
    .default([])
    .describe(
      'Domain names that no account may add, including their subdomains. The platform’s own names are always reserved.',
    ),
  FRONTAGE_DOMAINS_ENDINGS: list
    .pipe(z.array(z.string().regex(/^[a-z0-9-]+$/)))
    .default([])
    .describe(
      'Additional top-level domains that are not in the public suffix list, such as `test` on a local machine.',
    ),
  FRONTAGE_CAA_NAMES: list
    .pipe(z.array(hostname))
    .default(['letsencrypt.org'])
    .describe('Names that identify the certificate authority in CAA records.'),
};
