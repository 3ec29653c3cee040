import { type LookupAddress, NODATA, NOTFOUND } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { notPublic } from './endpoint.ts'
import { isPublic } from './public-addresses.ts'

/** How long to wait for a name server before trying again. */
const TIMEOUT_MS = 3000
const TRIES = 2

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
 * @throws Error if the name has no address, or no name server knows
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
