import { type AddressInfo, isIPv6 } from 'node:net'
import type { Config } from '../config.ts'
import { type Place, placeOf } from '../stores/place.ts'
import type { Access } from './access-file.ts'

/** What whoever started the service wants to know first, with a command that works as pasted. */
export function greeting(config: Config, address: AddressInfo, access: Access): string {
  const url = urlOf(address)
  const { place, bearer } = describe(access)
  return `Plant Store listens on ${url}
  docs      ${url}/documentation
  database  ${nameOf(placeOf(config.database))}
  token     ${place}

Create a plant:
  curl ${url}/plants -H "Authorization: Bearer ${bearer}" -H 'Content-Type: application/json' -d '{"id": 4, "name": "Abies alba Mill.", "tag": "Tree"}'
`
}

function nameOf(place: Place): string {
  if ('memory' in place) return 'in memory'
  return 'file' in place ? place.file : place.server
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
