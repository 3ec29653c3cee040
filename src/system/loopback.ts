import { BlockList, isIP } from 'node:net'

/** RFC 1122 §3.2.1.3 (g) and RFC 4291 §2.5.3. A BlockList also matches IPv4-mapped IPv6 addresses. */
const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether traffic for a host, given as a name or an address, never leaves this machine. */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host.toLowerCase() === 'localhost'
  return LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

/** The addresses of `localhost`, without asking the system's resolver (RFC 6761 §6.3). */
const LOCALHOST = ['127.0.0.1', '::1'] as const

/** The addresses to listen on for the value of `--host`. */
export function toHosts(host: string): readonly string[] {
  return host === 'localhost' ? LOCALHOST : [host]
}
