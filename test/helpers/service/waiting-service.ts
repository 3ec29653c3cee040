import type { Test } from 'tap'
import type { ChangesRequest } from '../../../service/store/change-feed.ts'
import { type Service, type StartOptions, startService } from './service.ts'

/** A service that tells when its requests wait for changes. */
export interface WaitingService {
  readonly service: Service
  /** Resolves once a request has begun to wait for changes, since the previous call. */
  isWaiting(): Promise<void>
  /** How often the store was asked for changes. */
  countReads(): number
}

/** Starts a service that stops when the test ends. */
export async function startWaitingService(
  t: Test,
  options: StartOptions = {},
): Promise<WaitingService> {
  let waiting = Promise.withResolvers<void>()
  let reads = 0
  const read = options.instead?.readChanges
  const service: Service = await startService(t, {
    ...options,
    instead: {
      ...options.instead,
      readChanges: (request: ChangesRequest) => {
        reads++
        return (read ?? service.store.readChanges.bind(service.store))(request)
      },
      nextCommit: () => {
        // The requests that are waiting now have read before.
        setImmediate(() => waiting.resolve())
        return service.store.nextCommit()
      },
    },
  })
  return {
    service,
    isWaiting: () =>
      waiting.promise.finally(() => {
        waiting = Promise.withResolvers()
      }),
    countReads: () => reads,
  }
}
