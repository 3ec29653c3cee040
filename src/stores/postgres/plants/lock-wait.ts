import { StoreUnavailable } from '../../../../service/plant-store.ts'
import type { Run } from '../connection/call.ts'
import { isLockTimeout } from '../connection/postgres-errors.ts'

/**
 * The part of the timeout of a statement that a wait for a lock can take. It leaves time for the server to report that
 * it gives up before the client does.
 */
const PART = 0.9

/** A client that is lost keeps its locks until the server notices, which can take hours. */
const IDLE_MAX = '10s'

/**
 * The server can keep waiting for a lock after the client has given up. Without a limit, such waits would use up the
 * server's connections, and delay all others that need the lock.
 */
const LIMIT_WAIT = `
  SELECT set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', '${IDLE_MAX}', true)`

/** How long a statement can wait for a lock. */
export function toLockWaitMs(timeout: number): number {
  return Math.ceil(timeout * PART)
}

/** Limits the waits for locks in a transaction. */
export async function limitLockWait(run: Run, waitMs: number): Promise<void> {
  await run(LIMIT_WAIT, [`${waitMs}ms`])
}

/**
 * Creates, enables or disables triggers on `plants`, which waits for transactions that change plants.
 *
 * @throws StoreUnavailable that names the cause if the wait takes too long
 */
export async function changeTriggers(run: Run, statement: string): Promise<void> {
  try {
    await run(statement)
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    const detail =
      'the change feed cannot be turned on or off while another transaction is changing plants'
    throw new StoreUnavailable('busy', detail)
  }
}
