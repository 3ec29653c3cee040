import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Compiles `slow-fsync.c` into a folder and returns the library's path. Needs Linux and a C compiler. */
export function compileSlowFsync(folder: string): string {
  const library = join(folder, 'slow-fsync.so')
  const source = fileURLToPath(new URL('./slow-fsync.c', import.meta.url))
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'], { stdio: 'inherit' })
  return library
}

/** Calls `start` so that the process it spawns has a slower fsync. */
export function startSlowly<Started>(
  library: string,
  milliseconds: number,
  start: () => Started,
): Started {
  // The spawned process inherits the environment.
  Object.assign(process.env, { LD_PRELOAD: library, SLOW_FSYNC: String(milliseconds) })
  try {
    return start()
  } finally {
    delete process.env.LD_PRELOAD
  }
}
