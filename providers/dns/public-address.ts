/** Which addresses are on the public internet. Names of tenants may not lead our queries into the operator's own networks. */
import { BlockList, isIP } from 'node:net';

// Two lists, because an IPv4 address also matches the IPv6 subnet of mapped addresses.
const special = { ipv4: new BlockList(), ipv6: new BlockList() };
// The registries of special-purpose addresses (RFC 6890), multicast, and IPv6 addresses that contain an IPv4 address.
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  special.ipv4.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  special.ipv6.addSubnet(net, bits, 'ipv6');

/** False for loopback, link-local (with cloud metadata), private, shared and other special addresses, and for anything that is no address. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const family = address.includes(':') ? 'ipv6' : 'ipv4';
  return !special[family].check(address, family);
}
