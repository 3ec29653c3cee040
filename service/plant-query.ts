import { filterName, parseFilterName } from '../core/contract/field-parameters.ts'
import type { OperationRequest } from '../core/contract/operation-types.ts'
import { toComparable } from '../core/members/comparable.ts'
import { toWords } from '../core/members/words.ts'
import type { PlantCodec } from './plant-codec.ts'
import type { FieldCondition, PlantFilter } from './store/plant-filter.ts'

export type ListQuery = OperationRequest<'listPlants'>['query'] & {
  /** See AFTER_KEY. */
  readonly afterKey?: string
}

/** The parameters that select plants. */
type FilterQuery = Omit<ListQuery, 'limit'>

/** What is wrong with a query, as in `id cannot be combined with min.height`. */
interface Problem {
  readonly problem: string
}

/** The plants that a query of the contract selects. */
export function toPlantFilter(query: FilterQuery, codec: PlantCodec): PlantFilter | Problem {
  const { q, tag, untagged } = query
  const words = q === undefined ? undefined : toWords(q)
  const conditions = codec.toConditions(query)
  const contradiction =
    findContradiction(query) ?? conditions.map(describeContradiction).find((each) => each)
  if (contradiction !== undefined) return { problem: contradiction }
  if (words?.length === 0) return { problem: NO_WORD }
  return { words, tag: untagged ? null : tag, conditions }
}

const NO_WORD = 'q must contain a word, not only spaces, diacritics and invisible characters'

function findContradiction(query: FilterQuery): string | undefined {
  const { id, q, tag, untagged, count, sort = 'id', after, afterKey } = query
  if (untagged && tag !== undefined) return 'untagged cannot be combined with tag'
  const isByKey = sort.replace(/^-/, '') !== 'id'
  if (afterKey !== undefined && (!isByKey || after === undefined))
    return 'afterKey requires after, and sort by another property than id'
  if (isByKey && after !== undefined && afterKey === undefined)
    return 'after requires afterKey if sort is not id or -id: follow Link'
  if (id === undefined) return undefined
  if (sort !== 'id') return 'id cannot be combined with sort'
  if ((q ?? tag ?? untagged ?? count) !== undefined)
    return 'id cannot be combined with q, tag, untagged or count'
  const filter = Object.keys(query).find((name) => parseFilterName(name) !== undefined)
  return filter === undefined ? undefined : `id cannot be combined with ${filter}`
}

function describeContradiction(condition: FieldCondition): string | undefined {
  const { field, min, max, isAbsent } = condition
  const nameOf = (kind: 'is' | 'min' | 'max' | 'without') => filterName({ kind, name: field.name })
  const other = (['is', 'min', 'max'] as const).find((kind) => condition[kind] !== undefined)
  if (isAbsent && other !== undefined)
    return `${nameOf('without')} cannot be combined with ${nameOf(other)}`
  if (min === undefined || max === undefined) return undefined
  const isEmpty = toComparable(field, min) > toComparable(field, max)
  return isEmpty ? `${nameOf('min')} must not exceed ${nameOf('max')}` : undefined
}
