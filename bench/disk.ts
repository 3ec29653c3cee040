import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './statistics.ts'

const PAGE = Buffer.alloc(4096, 'plant')
const TIMES = 1000

/** How long the disk takes to have 4 KiB that were appended to a file, in milliseconds; the median of many times. */
export function fsyncTime(folder: string): number {
  const path = join(folder, 'fsync')
  const file = openSync(path, 'a')
  try {
    return median(
      Array.from({ length: TIMES }, () => {
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
