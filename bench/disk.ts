import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './statistics.ts'

const PAGE = Buffer.alloc(4096, 'plant')
const ROUNDS = 1000

/** Measures the median time of an fsync after appending 4 KiB to a file, in milliseconds. */
export function measureFsyncMs(folder: string): number {
  const path = join(folder, 'fsync')
  const file = openSync(path, 'a')
  try {
    return median(
      Array.from({ length: ROUNDS }, () => {
        writeSync(file, PAGE)
        const begin = performance.now()
        fsyncSync(file)
        return performance.now() - begin
      }),
    )
  } finally {
    closeSync(file)
    rmSync(path)
  }
}
