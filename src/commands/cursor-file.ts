import { pipeline } from 'node:stream/promises'
import { CHANGES_OFF, type ChangeFeed } from '../../service/change-feed.ts'
import { ConfigError } from '../config/config.ts'
import { fileError } from '../config/file-error.ts'
import { openDestination } from './destination.ts'

/** The file for the cursor of an export. */
export interface CursorFile {
  /** Writes the cursor and replaces the file. Call it once the export is complete. */
  publish(): Promise<void>
  /** Deletes what was written, unless it is published. */
  discard(): Promise<void>
}

/**
 * Reads the cursor of the latest change. An export whose snapshot is taken later has that change and all earlier ones.
 * It can also have some of the later ones; repeating those in order does no harm.
 *
 * @throws ConfigError if the change feed is off, or the file cannot be written
 */
export async function prepareCursor(
  feed: ChangeFeed,
  file: string,
  database: string,
): Promise<CursorFile> {
  const page = await feed.readChanges({ after: 'latest', limit: 1 })
  if (typeof page === 'string') {
    throw new ConfigError(`there is no cursor: ${CHANGES_OFF}`)
  }
  const unwritable = (error: unknown) => {
    throw fileError(`cannot write ${file}`, error)
  }
  const { stream, publish, discard } = await openDestination(file, database).catch(unwritable)
  return {
    publish: () =>
      pipeline([`${page.next}\n`], stream)
        .then(publish)
        .catch(unwritable),
    discard,
  }
}
