import type { ContractExtension } from '../../core/members/own-fields.ts'
import { readBounded } from '../system/bounded-file.ts'
import { ConfigError } from './config.ts'

/**
 * Reads the file of the setting `contract`, if it is set.
 *
 * @throws ConfigError with the place of the first mistake, FileError if the file cannot be read or is too large
 */
export async function loadExtension(
  file: string | undefined,
): Promise<ContractExtension | undefined> {
  if (file === undefined) return undefined
  // Imported late, because they load the validators, which would slow down the start of every command.
  const [{ OVERLAY_BYTES_MAX, readOverlay }, { FieldError }] = await Promise.all([
    import('../../core/contract/overlay/overlay.ts'),
    import('../../core/contract/overlay/field-schemas.ts'),
  ])
  const bytes = readBounded(file, OVERLAY_BYTES_MAX)
  try {
    return readOverlay(bytes)
  } catch (error) {
    if (error instanceof FieldError) {
      throw new ConfigError(`invalid contract ${file}: ${error.message}`, { cause: error })
    }
    throw error
  }
}
