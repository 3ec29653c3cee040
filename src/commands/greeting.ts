import type { Access } from '../access.ts'
import type { Config } from '../config.ts'
import { DOCS_PATH } from '../http/docs.ts'
import { type Place, placeOf } from '../stores/place.ts'

/** What whoever started the service wants to know first, with a command that works as pasted. */
export function greeting(config: Config, url: string, access: Access): string {
  const { place, bearer } = describe(access)
  const docs = config.docs ? `\n  docs      ${docsOf(url)}` : ''
  return `Plant Store listens on ${url}${docs}
  database  ${nameOf(placeOf(config.database))}
  token     ${place}

Create a plant:
  curl ${url}/plants -H "Authorization: Bearer ${bearer}" -H 'Content-Type: application/json' -d '{"id": 4, "name": "Abies alba Mill.", "tag": "Tree"}'
`
}

/** The same for a program: an object of JSON on a line. It has the token where that is in no file. */
export function readyLine(config: Config, url: string, access: Access): string {
  const docs = config.docs ? { docs: docsOf(url) } : {}
  const token = 'token' in access ? { token: access.token } : {}
  return `${JSON.stringify({ url, ...docs, ...token })}\n`
}

function docsOf(url: string): string {
  return url + DOCS_PATH
}

function nameOf(place: Place): string {
  if ('memory' in place) return 'in memory'
  return 'file' in place ? place.file : place.server
}

function describe(access: Access): { place: string; bearer: string } {
  if ('token' in access) return { place: access.token, bearer: access.token }
  if ('variable' in access) {
    return { place: `in ${access.variable}`, bearer: `$${access.variable}` }
  }
  if ('file' in access)
    return { place: access.file, bearer: `$(cat '${shellQuoted(access.file)}')` }
  return { place: `none at hand; make one with ${access.command}`, bearer: '<token>' }
}

function shellQuoted(text: string): string {
  return text.replaceAll("'", `'\\''`)
}
