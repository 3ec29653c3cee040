/** A thread that opens each database at the same moment as all other threads, and says what came of it. */
import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../../../src/stores/sqlite/database.ts'

interface Work {
  readonly files: readonly string[]
  readonly threads: number
  /** How many times a thread was ready. */
  readonly ready: Int32Array
}

const { files, threads, ready } = workerData as Work

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
    openDatabase({ file, lockTimeout: 5000 }).close()
    return 'opened'
  } catch (error) {
    return (error as Error).message
  }
}
