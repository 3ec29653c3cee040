import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { NON_OWNER, PRIVATE_FOLDER_MODE } from '../file-modes.ts'

const ROOT_USER = 0

/**
 * Turns on Node's compile cache, which makes later starts about a quarter faster. Anyone who can write to the cache
 * can run code as this user, and Node's default is a predictable name in the shared temporary folder. So the cache is
 * in a folder that only this user can access, or off. If NODE_COMPILE_CACHE names a folder, Node already uses it.
 *
 * @param trusted as for compileCacheFolder
 */
export function useCompileCache(trusted?: string): void {
  if (getCompileCacheDir() !== undefined || process.env.NODE_DISABLE_COMPILE_CACHE) return
  const folder = compileCacheFolder(process.geteuid?.(), trusted)
  if (folder === undefined) return
  enableCompileCache(folder)
  // Worker threads inherit only the environment, not the cache.
  process.env.NODE_COMPILE_CACHE = folder
}

/**
 * The folder `plant-store` in the user's cache folder, created if missing. No other user except root can read, write
 * or replace it.
 *
 * @param user the effective user id; undefined on Windows, which has none
 * @param trusted a folder that is trusted without a check, like its parents
 * @returns the path without symbolic links; undefined if there is no safe folder
 */
export function compileCacheFolder(user: number | undefined, trusted?: string): string | undefined {
  if (user === undefined) return undefined
  const { XDG_CACHE_HOME: cacheHome = '' } = process.env
  try {
    // The XDG Base Directory Specification requires relative paths to be ignored.
    const base = isAbsolute(cacheHome) ? cacheHome : join(homedir(), '.cache')
    if (!isAbsolute(base)) return undefined
    const caches = ensureFolder(base, user, trusted)
    const folder = ensureFolder(join(caches, 'plant-store'), user, trusted)
    const stat = lstatSync(folder)
    const isOwn = stat.isDirectory() && stat.uid === user && (stat.mode & NON_OWNER.any) === 0
    return isOwn ? folder : undefined
  } catch {
    // No home directory, no permission or a read-only disk: the service works without a cache.
    return undefined
  }
}

/**
 * Creates a private folder if nothing has that name, but only in a folder that the user owns. HOME may be another
 * user's, as with sudo, or `/`.
 *
 * @returns the path, with symbolic links resolved in its parent
 * @throws if another user could rename or replace the folder
 */
function ensureFolder(path: string, user: number, trusted?: string): string {
  const parent = realpathSync(dirname(path))
  assertTrusted(parent, user, trusted)
  const folder = join(parent, basename(path))
  const isOwn = lstatSync(parent).uid === user && parent !== dirname(parent)
  if (isOwn && lstatSync(folder, { throwIfNoEntry: false }) === undefined) {
    // The mode is from the XDG Base Directory Specification; `recursive` tolerates a concurrent process.
    mkdirSync(folder, { mode: PRIVATE_FOLDER_MODE, recursive: true })
  }
  return folder
}

/** @throws if a user other than this one and root can change the entries of a folder or its parents */
function assertTrusted(folder: string, user: number, trusted?: string): void {
  for (let each = folder; each !== trusted; each = dirname(each)) {
    const { uid, mode } = lstatSync(each)
    const isSafe = (uid === user || uid === ROOT_USER) && (mode & NON_OWNER.write) === 0
    if (!isSafe) throw new Error(`${each} can be changed by other users`)
    if (each === dirname(each)) return
  }
}
