import { known } from '../../../../contract/known.ts'
import { CONTENT_COLUMNS } from '../../shared/rows.ts'

const UNTAGGED = `json_object('id', id, 'name', name)`
const TAGGED = `json_object('id', id, 'name', name, 'tag', tag)`

/**
 * A plant in JSON, as a column. SQLite formats a row faster than we create an object for it. Own fields are JSON already.
 * Without them, the JSON of a plant ends with a string, so it has only one brace at its end.
 */
export const PLANT_JSON = `
  CASE
    WHEN fields IS NOT NULL
      THEN rtrim(iif(tag IS NULL, ${UNTAGGED}, ${TAGGED}), '}') || ',' || fields || '}'
    WHEN tag IS NULL THEN ${UNTAGGED}
    ELSE ${TAGGED}
  END`

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
