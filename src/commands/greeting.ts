import { type AddressInfo, isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import { IN_MEMORY } from '../stores/sqlite/database.ts'
import type { Access } from './access-file.ts'

/** What whoever started the service wants to know first, with a command that works as pasted. */
export function greeting(config: Config, address: AddressInfo, access: Access): string {
  const url = urlOf(address)
  const database = config.database === IN_MEMORY ? 'in memory' : resolve(config.database)
  const { place, bearer } = describe(access)
  return `Plant Store listens on ${url}
  docs      ${url}/documentation
  database  ${database}
  token     ${place}

Create a plant:
  curl ${url}/plants -H "Authorization: Bearer ${bearer}" -H 'Content-Type: application/json' -d '{"id": 4, "name": "Abies alba Mill.", "tag": "Tree"}'
`
}

/** Where a browser on this machine finds the service. */
function urlOf({ address, port }: AddressInfo): string {
  const host = address.replace(/^0\.0\.0\.0$/, '127.0.0.1').replace(/^::$/, '::1')
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
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
