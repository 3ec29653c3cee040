import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Makes the library of `slow-fsync.c` in a folder; for Linux with a C compiler. Gives its path. */
export function makeSlowFsync(folder: string): string {
  const library = join(folder, 'slow-fsync.so')
  const source = fileURLToPath(new URL('./slow-fsync.c', import.meta.url))
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'], { stdio: 'inherit' })
  return library
}

/** Has `start` start a process for which fsync takes longer, by so many milliseconds. */
export function startSlowly<Started>(
  library: string,
  milliseconds: number,
  start: () => Started,
): Started {
  // What is started has the environment of this process.
  Object.assign(process.env, { LD_PRELOAD: library, SLOW_FSYNC: String(milliseconds) })
  try {
    return start()
  } finally {
    delete process.env.LD_PRELOAD
  }
}
