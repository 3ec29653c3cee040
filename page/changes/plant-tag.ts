import type { Plant } from '../../client/client.ts'
import { type MemberValue, ownValue, writeJson } from '../../core/members/members.ts'
import {
  entityTag,
  hashedText,
  hashVersion,
  shortVersion,
} from '../../core/members/plant-version.ts'
import { ownMembers } from '../model/current-members.ts'

/**
 * The entity tag that the service gives a plant, which pages of plants do not tell. If the service hides own fields, it
 * has another one. Undefined where the browser cannot hash: on pages without HTTPS, except on this machine.
 */
export async function tagOf(plant: Plant): Promise<string | undefined> {
  const { name, tag } = plant
  const content = { name, tag, fields: ownJson(plant) }
  const version = shortVersion(content)
  if (version !== undefined) return entityTag(version)
  if (crypto.subtle === undefined) return undefined
  const bytes = new TextEncoder().encode(hashedText(content))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const base64 = btoa(String.fromCharCode(...hash))
  return entityTag(hashVersion(base64.replaceAll('+', '-').replaceAll('/', '_')))
}

/** The own members as the service stores them. */
function ownJson(plant: Plant): string | undefined {
  const json = ownMembers
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap(({ name }) => {
      const value = ownValue(plant, name) as MemberValue | undefined
      return value === undefined ? [] : [`${JSON.stringify(name)}:${writeJson(value)}`]
    })
  return json.length === 0 ? undefined : json.join()
}
