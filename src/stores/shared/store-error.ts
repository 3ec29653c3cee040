import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import { UserError } from '../../system/user-errors.ts'

/** A database cannot be opened, checked or backed up. The message gives the reason in one line, for the operator. */
export class StoreError extends UserError {}

/** The error of a call that finds the database damaged, and of later changes. */
export function damagedError(detail: string): StoreUnavailable {
  return new StoreUnavailable('damaged', detail, 'its database is damaged')
}

/** There is no database, or it has no tables. */
export class MissingDatabase extends StoreError {}

/** Why a database with a newer schema cannot be used. */
export function newerSchemaMessage(version: number, supported: number): string {
  return `its schema has version ${version}, but this program supports versions up to ${supported}: upgrade plant-store`
}

/** Why a database with tables cannot be used because of the version of its schema; undefined if it can. */
export function schemaObstacle(version: number, first: number, last: number): string | undefined {
  if (version > last) return newerSchemaMessage(version, last)
  if (version >= first) return undefined
  return (
    `its schema has version ${version}, but this program supports versions from ${first}: export the plants with the ` +
    'plant-store that created it, and import them into a new database'
  )
}

/** Why a database whose schema can be upgraded cannot be used without that. */
export function olderSchemaMessage(version: number, supported: number): string {
  return `its schema has version ${version}: start the service, which upgrades it to ${supported}`
}
