import { known } from '../../../../contract/known.ts'
import { CONTENT_COLUMNS } from '../../shared/rows.ts'

/** A plant in JSON, as a column. SQLite formats a row faster than we create an object for it. */
export const PLANT_JSON = `
  CASE WHEN tag IS NULL THEN json_object('id', id, 'name', name)
  ELSE json_object('id', id, 'name', name, 'tag', tag) END`

/** The bytes of a plant's text. SQLite stores the lengths with the row, so this does not read the text. */
export const TEXT_BYTES = CONTENT_COLUMNS.map(
  (column) => `ifnull(octet_length(${column}), 0)`,
).join(' + ')

/**
 * The id of the last of several plants in JSON. To select it as a second column would take longer.
 *
 * @throws Error if there are none, which is a bug
 */
export function lastIdOf(plants: readonly string[]): bigint {
  const json = known(plants.at(-1))
  return BigInt(json.slice('{"id":'.length, json.indexOf(',')))
}
