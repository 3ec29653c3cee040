import type { OwnField } from '../../contract/own-fields.ts'
import { fileError } from '../system/errors.ts'
import { ConfigError } from './config.ts'

/**
 * Reads the own fields in the file of the setting `contract`, if it is set.
 *
 * @throws ConfigError with the place of the first mistake, FileError if the file cannot be read
 */
export async function loadOwnFields(file: string | undefined): Promise<OwnField[] | undefined> {
  if (file === undefined) return undefined
  // Imported late, because they load the validators, which would slow down the start of every command.
  const [{ loadOverlay }, { FieldError }] = await Promise.all([
    import('../../contract/overlay/overlay.ts'),
    import('../../contract/overlay/field-schemas.ts'),
  ])
  try {
    return loadOverlay(file)
  } catch (error) {
    if (error instanceof FieldError) {
      throw new ConfigError(`invalid contract ${file}: ${error.message}`, { cause: error })
    }
    throw fileError(`cannot read ${file}`, error)
  }
}
