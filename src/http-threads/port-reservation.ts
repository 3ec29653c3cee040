import { createServer } from 'node:net'
import { type Listening, listenOn } from '../http/listener.ts'
import { acquireStartLock } from './start-lock.ts'

/** A free port, and the addresses at which it is free. */
export interface Reservation extends Listening {
  /** Must be called when all threads listen. */
  release(): void
}

/** Whether several threads can listen on one port. */
export async function canSharePort(): Promise<boolean> {
  const probe = createServer()
  try {
    await listenOn([probe], { hosts: ['127.0.0.1'], port: 0, reusePort: true })
    return true
  } catch {
    return false
  } finally {
    probe.close()
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
    return { ...(await listenOn(probes, { hosts, port })), release }
  } catch (error) {
    release()
    throw error
  } finally {
    for (const probe of probes) probe.close()
  }
}
