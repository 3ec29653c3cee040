/** Files that `npm run page` builds: the page and the guides. */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { known } from '../../../core/known.ts'
import { ApiError } from './api-error.ts'
import type { StaticFile } from './static-file.ts'

/** The document of a folder, without which it is not built. */
export const DOCUMENT = 'index.html'

/** What a person can do about missing files. Follows `the page is`. */
export const NOT_BUILT = 'not built: run npm ci, then npm run page'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** Whether a folder is built. In a checkout, none is unless its development dependencies were installed. */
export function isBuilt(folder: URL): boolean {
  return existsSync(new URL(DOCUMENT, folder))
}

/**
 * Reads all files of a folder.
 *
 * @param subject what they are, such as `the page is`
 * @param toFile makes the file to serve from the content and the media type
 * @returns the files by name
 * @throws ApiError if the folder is not built
 */
export async function readBuilt(
  subject: string,
  folder: URL,
  toFile: (name: string, content: Buffer, type: string) => Promise<StaticFile>,
): Promise<ReadonlyMap<string, StaticFile>> {
  if (!isBuilt(folder)) throw new ApiError('unknown-path', `${subject} ${NOT_BUILT}`)
  // Other programs can leave files there.
  const names = (await readdir(folder)).filter((name) => TYPES[extname(name)] !== undefined)
  const files = names.map(async (name) => {
    const content = await readFile(new URL(name, folder))
    return [name, await toFile(name, content, known(TYPES[extname(name)]))] as const
  })
  return new Map(await Promise.all(files))
}
