/** Which addresses belong to the public internet. */
import { BlockList, isIP } from 'node:net'

/** https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast (RFC 5771). */
const SPECIAL_IPV4 = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  // Shared by the customers of a provider (carrier-grade NAT).
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local. Clouds serve credentials at 169.254.169.254.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  SPECIAL_IPV4.addSubnet(network, prefix, 'ipv4')
}

/**
 * Contains all addresses that are assigned for global use. Excludes loopback, private and link-local addresses,
 * multicast, and IPv4 addresses in IPv6 form (mapped, or translated by NAT64).
 */
const GLOBAL_IPV6 = new BlockList()
GLOBAL_IPV6.addSubnet('2000::', 3, 'ipv6')

/** The exceptions (https://www.iana.org/assignments/iana-ipv6-special-registry). */
const SPECIAL_IPV6 = new BlockList()
for (const [network, prefix] of [
  // Protocols such as Teredo, which contains IPv4 addresses.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4, which contains IPv4 addresses.
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  SPECIAL_IPV6.addSubnet(network, prefix, 'ipv6')
}

/** Whether a string is a public IP address. */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !SPECIAL_IPV4.check(address, 'ipv4')
    case 6:
      return GLOBAL_IPV6.check(address, 'ipv6') && !SPECIAL_IPV6.check(address, 'ipv6')
    default:
      return false
  }
}
