import { UserError } from '../../system/errors.ts'

/** A database cannot be opened, checked or backed up. The message gives the reason in one line, for the operator. */
export class StoreError extends UserError {}

/** There is no database, or it has no tables. */
export class MissingDatabase extends StoreError {}

/** Why a database with a newer schema cannot be used. */
export function newerSchemaMessage(version: number, supported: number): string {
  return `its schema has version ${version}, but this program supports versions up to ${supported}: upgrade plant-store`
}
