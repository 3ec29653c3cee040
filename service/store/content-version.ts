import { hash } from 'node:crypto'
import { codingSuffix, HASH_LENGTH, SHORT_START } from '../../core/members/plant-version.ts'
import type { Plant } from './plant-content.ts'

/** A version that is the content has at most this much text, in UTF-16 units. */
const TEXT_MAX = 64

/**
 * The version of a plant's content. Plants with the same content have the same version, and a plant that changes back gets
 * its old version back.
 */
export function contentVersion(plant: Plant): string {
  const { name, tag, fields } = plant
  const text = JSON.stringify(fields === undefined ? [name, tag] : [name, tag, fields])
  return shortVersion(plant) ?? hash('sha256', text, 'base64url').slice(0, HASH_LENGTH)
}

/**
 * The version of a short plant without own fields: its content in visible ASCII characters except double quotes, because
 * hashing takes half as long as reading the plant. Undefined for other plants.
 */
function shortVersion({ name, tag, fields }: Plant): string | undefined {
  if (fields !== undefined || name.length + (tag?.length ?? 0) > TEXT_MAX) return undefined
  const content = SHORT_START + encodeURIComponent(name)
  const version = tag === undefined ? content : `${content}&tag=${encodeURIComponent(tag)}`
  return codingSuffix(version) === undefined ? version : undefined
}
