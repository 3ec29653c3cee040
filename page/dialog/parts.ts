import { ConnectionError } from '../../client/client.ts'

/** The writer, and the parts of the page that are loaded once the list is shown. */
export type Parts = typeof import('../lazy-parts.ts')

/**
 * Loads them, if they are not loaded yet.
 *
 * @throws ConnectionError
 */
export async function loadParts(): Promise<Parts> {
  try {
    return await import('../lazy-parts.ts')
  } catch (cause) {
    throw new ConnectionError('the page could not be loaded', { cause })
  }
}
