import { known } from '../../../../core/known.ts'
import { ROW_TEXT_MAX } from '../../shared/page-limits.ts'
import { CONTENT_COLUMNS } from '../../shared/rows.ts'

const OTHER_COLUMNS = CONTENT_COLUMNS.filter((column) => column !== 'fields')

/** An expression that costs plants without own fields only one comparison more than if no plant had any. */
const byFields = (without: string, withFields: string) =>
  `CASE WHEN fields IS NULL THEN ${without} ELSE ${withFields} END`

const WITHOUT_FIELDS = `
  CASE WHEN tag IS NULL THEN json_object('id', id, 'name', name)
  ELSE json_object('id', id, 'name', name, 'tag', tag) END`

/** Own fields are JSON already. The last value before them is a string, so only one brace is removed. */
const WITH_FIELDS = `rtrim(${WITHOUT_FIELDS}, '}') || ',' || fields || '}'`

/** A plant in JSON, as a column. SQLite formats a row faster than we create an object for it. */
export const PLANT_JSON = byFields(WITHOUT_FIELDS, WITH_FIELDS)

/** A plant in JSON, or its id if it is large. */
export const JSON_OR_ID = byFields(
  unlessLarge(OTHER_COLUMNS, WITHOUT_FIELDS),
  unlessLarge(CONTENT_COLUMNS, WITH_FIELDS),
)

function unlessLarge(columns: readonly string[], json: string): string {
  const isLarge = columns.map((column) => `octet_length(${column}) > ${ROW_TEXT_MAX}`).join(' OR ')
  return `CASE WHEN ${isLarge} THEN id ELSE ${json} END`
}

/** The bytes of a plant's text. SQLite stores the lengths with the row, so this does not read the text. */
export const TEXT_BYTES = byFields(sumOf(OTHER_COLUMNS), sumOf(CONTENT_COLUMNS))

function sumOf(columns: readonly string[]): string {
  return columns.map((column) => `ifnull(octet_length(${column}), 0)`).join(' + ')
}

/**
 * The id of the last of several plants in JSON. To select it as a second column would take longer.
 *
 * @throws Error if there are none, which is a bug
 */
export function lastIdOf(plants: readonly string[]): bigint {
  const json = known(plants.at(-1))
  return BigInt(json.slice('{"id":'.length, json.indexOf(',')))
}
