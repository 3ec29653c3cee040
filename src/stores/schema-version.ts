/** Why a database with a newer schema cannot be used. */
export function newerSchemaMessage(version: number, supported: number): string {
  return `its schema has version ${version}, but this program supports versions up to ${supported}: upgrade plant-store`
}
