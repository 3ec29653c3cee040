/** Random plants and patches for comparisons with a model, and how the model has them: as PlantCodec makes them. */
import fc from 'fast-check'
import type { MemberValue } from '../../../core/members/members.ts'
import { contentVersion } from '../../../service/store/content-version.ts'
import type { Plant, PlantPatch } from '../../../service/store/plant-store.ts'
import { nursery } from '../../helpers/plants/nursery.ts'
import { jsonOf } from '../../helpers/service/service.ts'

const TAGS = ['', 'Tree', 'tree']

/** Plants and patches as in the API, where own fields are members. */
export interface Content extends Own {
  readonly name: string
  readonly tag?: string
}
type Patch = { readonly [Name in keyof Content]?: Content[Name] | null }
interface Own {
  readonly [field: string]: MemberValue | undefined
}

/** Values of own fields that a careless service confuses or rounds. */
const OWN: readonly Own[] = [
  { height: 0, planted: '2024-02-29', light: 'half shade', serial: -(2n ** 63n), inStock: false },
  { height: 10_000, photo: 'https://example.com/?a=1#b', serial: 2n ** 63n - 1n, price: 0.1 },
  { price: 5e-324, note: '"null"\u2028', grower: 'a@example.com' },
  { inStock: true, watered: '2026-11-25T23:59:59.999Z', price: 1.7976931348623157e308 },
]

export interface Contents {
  readonly content: fc.Arbitrary<Content>
  readonly patch: fc.Arbitrary<Patch>
}

export const tag = fc.constantFrom(...TAGS)
const members = { name: fc.constantFrom('', 'Abies'), tag }

export const plain: Contents = {
  content: fc.record(members, { requiredKeys: ['name'], noNullPrototype: true }),
  patch: fc.record({ ...members, tag: fc.oneof(tag, fc.constant(null)) }, { requiredKeys: [] }),
}

/** Half of the contents have own fields, and are often the same. */
const own: fc.Arbitrary<Own> = fc.oneof(fc.constant({}), fc.constantFrom(...OWN))

/** A few fields to set, and some to clear. */
const ownPatch = fc
  .tuple(own, fc.subarray(nursery.map(({ name }) => name)))
  .map(([own, cleared]) => ({ ...own, ...Object.fromEntries(cleared.map((name) => [name, null])) }))

export const extended: Contents = {
  content: fc.tuple(plain.content, own).map(([content, own]) => ({ ...content, ...own })),
  patch: fc.tuple(plain.patch, ownPatch).map(([patch, own]) => ({ ...patch, ...own })),
}

/** A plant to create, without its id, as the model has it. */
export function toPlant(content: Content): Plant {
  const { name, tag } = content
  return { name, ...(tag !== undefined && { tag }), ...toFields(CLEARED, content) }
}

const CLEARED = Object.fromEntries(nursery.map(({ name }) => [name, null]))

export function toReplacement(content: Content): PlantPatch {
  const { tag = null, ...others } = toPlant(content)
  return { ...others, tag }
}

export function toPatch(patch: Patch): PlantPatch {
  const { name, tag } = patch
  return {
    ...(typeof name === 'string' && { name }),
    ...(tag !== undefined && { tag }),
    ...toFields(patch),
  }
}

/** Own fields as the store has them: all members but name and tag. The last value of each field counts. */
function toFields(...parts: readonly Patch[]): Pick<PlantPatch, 'fields' | 'clears'> {
  const { name: _, tag: __, ...own }: Patch = Object.assign({}, ...parts)
  const names = Object.keys(own).sort()
  const write = (chosen: readonly string[]) =>
    chosen.map((name) => jsonOf({ [name]: own[name] })?.slice(1, -1)).join() || undefined
  const fields = write(names.filter((name) => own[name] !== null))
  const clears = write(names.filter((name) => own[name] === null))
  return { ...(fields !== undefined && { fields }), ...(clears !== undefined && { clears }) }
}

export function versionOf(content: Content): string {
  return contentVersion(toPlant(content))
}

export function tagOf(content: Content): string {
  return `"${versionOf(content)}"`
}

export function versionTag(plant: Plant): string {
  return `"${contentVersion(plant)}"`
}
