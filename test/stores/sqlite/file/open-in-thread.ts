/** Opens each database at the same moment as the other threads, and sends the results. */
import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../../../../src/stores/sqlite/file/database.ts'

export interface Work {
  readonly files: readonly string[]
  readonly threads: number
  /** The number of times that any thread was ready, shared by all threads. */
  readonly ready: Int32Array
}

const { files, threads, ready }: Work = workerData

parentPort?.postMessage(files.map((file, round) => outcomeOf(file, (round + 1) * threads)))

function outcomeOf(file: string, allReady: number): string {
  Atomics.add(ready, 0, 1)
  Atomics.notify(ready, 0)
  for (;;) {
    const count = Atomics.load(ready, 0)
    if (count >= allReady) break
    Atomics.wait(ready, 0, count)
  }
  try {
    openDatabase({ file, lockTimeout: 60_000 }).close()
    return 'opened'
  } catch (error) {
    return (error as Error).message
  }
}
