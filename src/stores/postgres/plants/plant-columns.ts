/** The columns of the table `plants` in statements. */
import type { StoredPlant } from '../../../../service/store/plant-store.ts'
import { CONTENT_COLUMNS, contentValues, PLANT_COLUMNS, type PlantRow } from '../../shared/rows.ts'
import { textLength } from '../feed/change-tables.ts'

/** The length of a plant's text, in bytes. */
export const TEXT = textLength(CONTENT_COLUMNS)

/** The columns, of which only the id has a value unless a condition is met. */
function columnsIf(condition: string): string {
  const content = CONTENT_COLUMNS.map(
    (each) => `CASE WHEN ${condition} THEN ${each} END AS ${each}`,
  )
  return ['id', ...content].join(', ')
}

/** A row whose name is null if its text was not read. */
export type LimitedRow<Row extends PlantRow = PlantRow> =
  | Row
  | (Omit<Row, 'name'> & { readonly name: null })

export function isRead<Row extends PlantRow>(row: LimitedRow<Row>): row is Row {
  return row.name !== null
}

/**
 * A query for the plants that another query finds, which can lock them, and for their `bytes`. It reads the text only of
 * those that meet a condition on `bytes` and on `total`, the bytes of a plant and of those before it.
 */
export function limitText(
  query: string,
  { order, condition }: { readonly order: string; readonly condition: string },
): string {
  return `
    SELECT ${columnsIf(condition)}, bytes
    FROM (
      SELECT *, sum(bytes) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS total
      FROM (SELECT *, ${TEXT} AS bytes FROM (${query}) AS found) AS measured
    ) AS summed`
}

/** A condition that a plant has the content in consecutive parameters. */
export function hasContent(first: number): string {
  return CONTENT_COLUMNS.map(
    (column, index) => `${column} IS NOT DISTINCT FROM $${first + index}::text`,
  ).join(' AND ')
}

const ARRAYS = CONTENT_COLUMNS.map((_, index) => `$${index + 2}::text[]`)

/** A FROM item with plants as arrays in the first parameters: see `toColumns`. */
export const UNNESTED = `unnest($1::int8[], ${ARRAYS.join(', ')}) AS given (${PLANT_COLUMNS})`

/** Replaces the content of a plant by that in UNNESTED. */
export const SET_GIVEN = `SET ${CONTENT_COLUMNS.map((each) => `${each} = given.${each}`).join(', ')}`

/** Plants as one array for each column. */
export function toColumns(plants: readonly StoredPlant[]): unknown[][] {
  const rows = plants.map(contentValues)
  return [
    plants.map(({ id }) => id),
    ...CONTENT_COLUMNS.map((_, index) => rows.map((values) => values[index])),
  ]
}
