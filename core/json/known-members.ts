import type { components } from '../generated/api.gen.ts'

type Schemas = components['schemas']

type MemberOf<Type> = Type extends unknown ? keyof Type : never

/** The members that a change has in addition to those of a plant, with their types. Fails to compile if one is missing. */
const CHANGE_MEMBERS: Record<
  Exclude<MemberOf<Schemas['PlantChange']>, keyof Schemas['StoredPlant']>,
  'string' | 'plant'
> = { op: 'string', ifMatch: 'string', ifContent: 'plant' }

/** Their names, which no member of a plant can have. */
export const CHANGE_NAMES: readonly string[] = Object.keys(CHANGE_MEMBERS)

/** What the parser needs to know about a member of a plant. */
export interface ParsedMember {
  readonly name: string
  readonly type: string
}

/** A member that is built. */
export interface KnownMember {
  readonly name: string
  /** The name in UTF-8. */
  readonly bytes: Buffer
  readonly isDecimal: boolean
  /** Whether an object in its place is a plant. */
  readonly isPlant: boolean
}

/** A power of two, of which a hundred names fill less than half. */
const BUCKETS = 256

/** Finds members by the bytes of their names, which is faster than decoding each name for a Map. */
export class KnownMembers {
  readonly #byName = new Map<string, KnownMember>()
  readonly #buckets: KnownMember[][] = Array.from({ length: BUCKETS }, () => [])
  readonly #lengthMax: number

  constructor(members: readonly ParsedMember[]) {
    const changes = Object.entries(CHANGE_MEMBERS).map(([name, type]) => ({ name, type }))
    for (const { name, type } of [...members, ...changes]) {
      const bytes = Buffer.from(name)
      const member = { name, bytes, isDecimal: type === 'number', isPlant: type === 'plant' }
      this.#byName.set(name, member)
      this.#bucket(member.bytes, 0, member.bytes.length).push(member)
    }
    this.#lengthMax = Math.max(...[...this.#byName.values()].map(({ bytes }) => bytes.length))
  }

  get(name: string): KnownMember | undefined {
    return this.#byName.get(name)
  }

  /** The member whose name these bytes are. */
  find(bytes: Buffer, start: number, end: number): KnownMember | undefined {
    if (end - start > this.#lengthMax) return undefined
    for (const member of this.#bucket(bytes, start, end))
      if (isEqual(member.bytes, bytes, start, end)) return member
    return undefined
  }

  #bucket(bytes: Buffer, start: number, end: number): KnownMember[] {
    let hash = 0
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0
    return this.#buckets[hash & (BUCKETS - 1)] as KnownMember[]
  }
}

/** Faster than `Buffer.compare` for names, which are short. */
function isEqual(name: Buffer, bytes: Buffer, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let index = 0; index < name.length; index++) {
    if (name[index] !== bytes[start + index]) return false
  }
  return true
}
