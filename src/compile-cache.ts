import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'

const ROOT_USER = 0

/** Permission bits of the group and of all other users. */
const OTHERS = { any: 0o077, write: 0o022 }

/**
 * Keeps the code that Node compiles, which saves about a quarter of each later start. Whoever can write to the cache
 * can run code as this user, and Node's default is a well-known name in the shared temporary folder. So the cache is
 * in a folder that is this user's alone, or off. If NODE_COMPILE_CACHE names a folder, Node already uses that one.
 *
 * @param trusted as for compileCacheFolder
 */
export function keepCompiledCode(trusted?: string): void {
  if (getCompileCacheDir() !== undefined || process.env.NODE_DISABLE_COMPILE_CACHE) return
  const folder = compileCacheFolder(process.geteuid?.(), trusted)
  if (folder !== undefined) enableCompileCache(folder)
}

/**
 * The folder `plant-store` in the user's cache folder, made if it is missing: no other user but root can read it,
 * write to it or put another one in its place.
 *
 * @param user the effective user id; on Windows there is none, and so no folder
 * @param trusted a folder that is not examined, nor any above it
 * @returns its path without symbolic links, or nothing if there is no such folder
 */
export function compileCacheFolder(user: number | undefined, trusted?: string): string | undefined {
  if (user === undefined) return undefined
  const { XDG_CACHE_HOME: cacheHome = '' } = process.env
  try {
    // The XDG Base Directory Specification has a relative path ignored.
    const base = isAbsolute(cacheHome) ? cacheHome : join(homedir(), '.cache')
    if (!isAbsolute(base)) return undefined
    const caches = provideFolder(base, user, trusted)
    const folder = provideFolder(join(caches, 'plant-store'), user, trusted)
    const stat = lstatSync(folder)
    const isOwn = stat.isDirectory() && stat.uid === user && (stat.mode & OTHERS.any) === 0
    return isOwn ? folder : undefined
  } catch {
    // No home, no permission, a read-only disk: the service works without a cache.
    return undefined
  }
}

/**
 * Makes a private folder if there is nothing of that name, but only in a folder of the user's own. HOME may be that of
 * another user, as with sudo, or `/`.
 *
 * @returns its path without symbolic links above it
 * @throws if another user could rename it, or put another one in its place
 */
function provideFolder(path: string, user: number, trusted?: string): string {
  const parent = realpathSync(dirname(path))
  refuseForeign(parent, user, trusted)
  const folder = join(parent, basename(path))
  const isOwn = lstatSync(parent).uid === user && parent !== dirname(parent)
  if (isOwn && lstatSync(folder, { throwIfNoEntry: false }) === undefined) {
    // With the mode that the XDG Base Directory Specification asks for; recursive, as another process may be first.
    mkdirSync(folder, { mode: 0o700, recursive: true })
  }
  return folder
}

/** @throws unless only the user and root can change the entries of a folder, and of those above it */
function refuseForeign(folder: string, user: number, trusted?: string): void {
  for (let each = folder; each !== trusted; each = dirname(each)) {
    const { uid, mode } = lstatSync(each)
    const isSafe = (uid === user || uid === ROOT_USER) && (mode & OTHERS.write) === 0
    if (!isSafe) throw new Error(`${each} can be changed by other users`)
    if (each === dirname(each)) return
  }
}
