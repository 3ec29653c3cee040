/** Recognizes addresses of the public internet, and resolves the names of receivers to them. */
import { type LookupAddress, NODATA, NOTFOUND } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** The option that lifts the requirements for endpoints. */
export const EXCEPTION = '--allow-private-webhooks'

/** How long to wait for a name server before trying again. */
const TIMEOUT_MS = 3000
const TRIES = 2

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

/** Why a delivery to an address is refused. */
export function notPublic(address: string): string {
  return `${address} is not a public address, and is allowed only with ${EXCEPTION}`
}

/** Resolves to the addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

/**
 * Finds the addresses of host names for sockets. Fails if one of them is not public. The socket connects to no others,
 * so a name that changes its address (DNS rebinding) does not help an attacker.
 */
export function publicLookup(
  resolve: Resolve = (hostname) => askNameServers(hostname),
): LookupFunction {
  return (hostname, { all }, callback) => {
    const respond = (error: Error | null, addresses: readonly LookupAddress[] = []) => {
      const [{ address, family } = { address: '', family: 0 }] = addresses
      if (all) callback(error, [...addresses])
      else callback(error, address, family)
    }
    resolve(hostname).then(
      (addresses) => {
        const refused = addresses.find(({ address }) => !isPublic(address))
        if (refused !== undefined) respond(new Error(`${hostname}: ${notPublic(refused.address)}`))
        // The socket would throw an error that nothing can catch.
        else if (addresses.length === 0) respond(new Error(noAddress(hostname)))
        else respond(null, addresses)
      },
      (error) => respond(error),
    )
  }
}

/**
 * Asks name servers, by default those of the system, for the addresses of both versions of IP. `dns.lookup` would wait
 * in one of the few threads that also read files. A few names without a working name server could then block the whole
 * process.
 *
 * @param servers addresses with optional ports
 * @throws Error if the name has no address, or the name servers fail
 */
export async function askNameServers(
  hostname: string,
  servers?: readonly string[],
): Promise<LookupAddress[]> {
  // Created for each lookup, because the system's name servers can change.
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  if (servers !== undefined) resolver.setServers(servers)
  const failures: string[] = []
  const note = ({ code }: { code: string }) => {
    failures.push(code)
    return []
  }
  const [ipv4, ipv6] = await Promise.all([
    resolver.resolve4(hostname).catch(note),
    resolver.resolve6(hostname).catch(note),
  ])
  const addresses = [...withFamily(ipv4, 4), ...withFamily(ipv6, 6)]
  if (addresses.length > 0) return addresses
  // The failure of a name server is more informative than the lack of addresses of one version.
  const failure = failures.find((code) => code !== NODATA && code !== NOTFOUND)
  if (failure === undefined) throw new Error(noAddress(hostname))
  throw new Error(
    `cannot resolve ${hostname}: the name servers of this machine failed (${failure})`,
  )
}

function noAddress(hostname: string): string {
  return `the host name ${hostname} does not exist or has no address`
}

function withFamily(addresses: readonly string[], family: number): LookupAddress[] {
  return addresses.map((address) => ({ address, family }))
}
