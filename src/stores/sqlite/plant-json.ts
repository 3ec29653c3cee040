/** A plant in JSON, as a column. SQLite formats a row faster than we create an object for it. */
export const PLANT_JSON = `
  CASE WHEN tag IS NULL THEN json_object('id', id, 'name', name)
  ELSE json_object('id', id, 'name', name, 'tag', tag) END`

/** The id of a plant in JSON. To select it as a second column would take longer. */
export function idOf(json: string): bigint {
  return BigInt(json.slice('{"id":'.length, json.indexOf(',')))
}
