import { createServer } from 'node:net'
import { type Endpoint, type Listening, listenOn } from '../http/sockets/listener.ts'
import { acquireStartLock } from './start-lock.ts'

/** A free port, and the addresses at which it is free. */
export interface Reservation extends Listening {
  /** Must be called once all servers are listening. */
  release(): void
}

/** Whether several listeners can share a port. */
export async function canSharePort(): Promise<boolean> {
  const probe = createServer()
  const endpoint = { hosts: ['127.0.0.1'], port: 0, reusePort: true }
  const canShare = await listenOn([probe], endpoint).then(
    () => true,
    () => false,
  )
  probe.close()
  return canShare
}

/**
 * Lets servers listen on one free port, which their listeners share if the system permits it.
 *
 * @param listeners each makes one server listen
 * @throws the system's error if the port is taken on the first host
 */
export async function listenOnAll(
  listeners: readonly ((endpoint: Endpoint) => Promise<Listening>)[],
  { hosts, port, ...options }: Endpoint,
): Promise<Listening> {
  const { addresses, unavailable, release } = await reservePort(hosts, port)
  try {
    const endpoint = {
      ...options,
      hosts: addresses.map(({ address }) => address),
      port: addresses[0].port,
      reusePort: await canSharePort(),
    }
    const listening = await Promise.all(listeners.map((listen) => listen(endpoint)))
    const reasons = listening.flatMap(({ unavailable }) => unavailable)
    return { addresses, unavailable: [...new Set([...unavailable, ...reasons])] }
  } finally {
    release()
  }
}

/**
 * Finds a free port. With `reusePort` alone, a second service could silently listen on the same port. Until the port is
 * released, other services that start on it wait, so that no two of them find it free.
 *
 * @throws the system's error if the port is taken on the first host
 */
export async function reservePort(hosts: readonly string[], port: number): Promise<Reservation> {
  const release = await acquireStartLock(port)
  const probes = hosts.map(() => createServer())
  try {
    const listening = await listenOn(probes, { hosts, port })
    for (const probe of probes) probe.close()
    return { ...listening, release }
  } catch (error) {
    release()
    throw error
  }
}
