import { UserError } from '../../system/errors.ts'

/** A database cannot be opened, checked or backed up. The message gives the reason in one line, for the operator. */
export class StoreError extends UserError {}

/** There is no database, or it has no tables. */
export class MissingDatabase extends StoreError {}

/** Why a database with a newer schema cannot be used. */
export function newerSchemaMessage(version: number, supported: number): string {
  return `its schema has version ${version}, but this program supports versions up to ${supported}: upgrade plant-store`
}

/** Why a database whose schema has another version cannot be used without upgrading it. */
export function otherSchemaMessage(version: number, supported: number): string {
  if (version > supported) return newerSchemaMessage(version, supported)
  return `its schema has version ${version}: start the service, which upgrades it to ${supported}`
}
