import { parseFilterName } from '../core/contract/field-parameters.ts'
import type { Json } from '../core/contract/operation-types.ts'
import type { components } from '../core/generated/api.gen.ts'
import { known } from '../core/known.ts'
import type { Member, MemberValue } from '../core/members/members.ts'
import type { Change } from './store/change-feed.ts'
import {
  type Content,
  contentJson,
  type FieldsPatch,
  parseSources,
  plantJson,
  readFields,
  writeFields,
} from './store/plant-content.ts'
import type { FieldCondition } from './store/plant-filter.ts'
import type { NewPlant, Plant, PlantPage, PlantPatch, StoredPlant } from './store/plant-store.ts'

type Schemas = components['schemas']

/** Values of the API by the names of their members. */
type Values = { readonly [name: string]: MemberValue | null | undefined }

/** An own field, and how its JSON begins. */
interface FieldStart extends Pick<Member, 'name' | 'type'> {
  readonly start: string
}

/** The order of a list by a member. */
export interface MemberOrder {
  readonly member: Member
  readonly isDescending: boolean
}

/** The order of a list. Without a member, it is by id. */
export type ListOrder = Partial<MemberOrder> & Pick<MemberOrder, 'isDescending'>

/** A condition while it is read. */
type Condition = { -readonly [Name in keyof FieldCondition]: FieldCondition[Name] }

/**
 * Converts plants between the API, where own fields are members of a plant, and the store, where they are one text.
 * Values of the API must be valid.
 */
export class PlantCodec {
  /** Sorted by name. */
  readonly #fields: readonly FieldStart[]
  readonly #members: ReadonlyMap<string, Member>
  readonly #hidden: ReadonlySet<string>

  /**
   * @param members of a plant, according to the contract
   * @param hidden the names of stored fields that the contract does not have
   */
  constructor(members: readonly Member[], hidden: readonly string[] = []) {
    this.#fields = members
      .filter(({ schema }) => schema !== undefined)
      .map(({ name, type }) => ({ name, type, start: `${JSON.stringify(name)}:` }))
      .sort((one, other) => (one.name < other.name ? -1 : 1))
    this.#members = new Map(members.map((member) => [member.name, member]))
    this.#hidden = new Set(hidden)
  }

  /** A plant to store, without undocumented members. It clears the fields that it does not have. */
  toPlant(values: Schemas['NewPlant']): NewPlant {
    const { id, name, tag } = values
    const plant = tag === undefined ? { id, name } : { id, name, tag }
    return this.#fields.length === 0 ? plant : { ...plant, ...this.#toFields(values, 'clear') }
  }

  /** A patch without undocumented members, such as a number that is not exact, which must not reach the store. */
  toPatch(values: Omit<Schemas['PlantPatch'], 'id'>): PlantPatch {
    const { name, tag } = values
    return {
      ...(name !== undefined && { name }),
      ...(tag !== undefined && { tag }),
      ...(this.#fields.length > 0 && this.#toFields(values, 'keep')),
    }
  }

  /** @param missing what to do with the fields that the values lack */
  #toFields(given: object, missing: 'clear' | 'keep'): FieldsPatch {
    const values = given as Values
    let fields = ''
    let clears = ''
    for (const { name, start } of this.#fields) {
      // Not a method that every object inherits.
      const value = Object.hasOwn(values, name) ? values[name] : undefined
      if (value !== undefined && value !== null) {
        const json = typeof value === 'string' ? JSON.stringify(value) : String(value)
        fields += fields === '' ? start + json : `,${start}${json}`
      } else if (value === null || missing === 'clear') {
        clears += clears === '' ? `${start}null` : `,${start}null`
      }
    }
    return { ...(fields !== '' && { fields }), ...(clears !== '' && { clears }) }
  }

  /** The order that a value of the parameter `sort` names. */
  toOrder(sort: string): ListOrder {
    const isDescending = sort.startsWith('-')
    const name = isDescending ? sort.slice(1) : sort
    if (name === 'id') return { isDescending }
    return { member: known(this.#members.get(name)), isDescending }
  }

  /** What a query requires of own fields. The conditions for a field can contradict each other. */
  toConditions(query: object): FieldCondition[] {
    const conditions = new Map<string, Condition>()
    for (const [parameter, value] of Object.entries(query)) {
      const { kind, name = '' } = parseFilterName(parameter) ?? {}
      if (kind === undefined) continue
      const condition = conditions.get(name) ?? { field: known(this.#members.get(name)) }
      conditions.set(name, condition)
      if (kind === 'without') condition.isAbsent = true
      else condition[kind] = value
    }
    return [...conditions.values()]
  }

  /** A plant as in the API. */
  toValues({ id, name, tag, fields }: StoredPlant): Schemas['StoredPlant'] {
    const plant = tag === undefined ? { id, name } : { id, name, tag }
    if (fields === undefined || this.#fields.length === 0) return plant
    const given = new Map(readFields(fields))
    const values = this.#fields.flatMap(({ name, type }) => {
      const json = given.get(name)
      if (json === undefined) return []
      return [[name, type === 'int64' ? BigInt(json) : JSON.parse(json)]]
    })
    return { ...plant, ...Object.fromEntries(values) }
  }

  /** Whether a plant that was replaced has no hidden fields, and its replacement had no undocumented members. */
  isExactly(plant: Plant, replacement: object): boolean {
    const isDocumented = Object.keys(replacement).every((name) => this.#members.has(name))
    return isDocumented && this.#withoutHidden(plant).fields === plant.fields
  }

  plantJson(plant: StoredPlant): Json<Schemas['StoredPlant']> {
    return plantJson(this.#withoutHidden(plant)) as Json<Schemas['StoredPlant']>
  }

  contentJson(plant: Plant): Json<Schemas['Plant']> {
    return contentJson(this.#withoutHidden(plant)) as Json<Schemas['Plant']>
  }

  changeJson({ cursor, at, type, id, plant, endsTransaction }: Change): Json<Schemas['Change']> {
    const content = plant === undefined ? '' : `,"plant":${this.contentJson(plant)}`
    const end = endsTransaction === true ? ',"endsTransaction":true' : ''
    // None of the strings needs an escape.
    const json = `{"cursor":"${cursor}","at":"${at}","type":"${type}","id":${id}${content}${end}}`
    return json as Json<Schemas['Change']>
  }

  changesJson(changes: readonly Change[]): Json<Schemas['Change'][]> {
    return `[${changes.map((change) => this.changeJson(change)).join()}]` as Json<
      Schemas['Change'][]
    >
  }

  /** The JSON of a page. Without hidden fields, it is that of the store. */
  pageJson({ json }: Pick<PlantPage, 'json'>): PlantPage['json'] {
    if (this.#hidden.size === 0) return json
    const plants = parseSources(json) as { readonly [name: string]: string }[]
    const shown = plants.map(({ id, name, tag, ...own }) => {
      const members = [`"id":${id}`, `"name":${name}`]
      if (tag !== undefined) members.push(`"tag":${tag}`)
      const fields = writeFields(this.#shown(Object.entries(own)))
      if (fields !== undefined) members.push(fields)
      return `{${members.join()}}`
    })
    return `[${shown.join()}]` as PlantPage['json']
  }

  #withoutHidden<Each extends Content>(plant: Each): Each {
    const { fields } = plant
    if (this.#hidden.size === 0 || fields === undefined || fields === null) return plant
    return { ...plant, fields: writeFields(this.#shown(readFields(fields))) }
  }

  #shown(fields: readonly [name: string, json: string][]) {
    return fields.filter(([name]) => !this.#hidden.has(name))
  }
}
