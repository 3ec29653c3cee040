import type { ContractDocument, Schema } from '../../../core/contract/contract.ts'
import { parseFilterName } from '../../../core/contract/field-parameters.ts'
import { parameterCompiler } from '../../../core/contract/validators.ts'
import { known } from '../../../core/known.ts'
import type { PlantCodec } from '../../../service/plant-codec.ts'
import { type ListQuery, toPlantFilter } from '../../../service/plant-query.ts'
import { toMatch } from '../../../service/store/plant-match.ts'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import { describeParameterError } from '../../http/request/parameters.ts'
import { CommandError } from '../../system/user-errors.ts'

/** Which plants to export, like the query parameters of `listPlants`. All plants by default. */
export interface SelectionOptions {
  readonly q?: string
  readonly tag?: string
  readonly untagged?: true
  /** Conditions on own fields, such as `min.height=100`. */
  readonly filter?: readonly string[]
}

/** A query parameter of the contract. */
interface Parameter {
  readonly name: string
  readonly schema: Schema
}

type PlantMatch = (plant: StoredPlant) => boolean

const GENERAL = ['q', 'tag', 'untagged']

/**
 * Prepares to select plants.
 *
 * @throws CommandError if an option is invalid
 */
export function selectPlants(
  { paths }: ContractDocument,
  codec: PlantCodec,
  { q, tag, untagged, filter = [] }: SelectionOptions,
): PlantMatch {
  const parameters = known(paths['/plants']?.get?.parameters) as Parameter[]
  const properties = Object.fromEntries(
    parameters
      .filter(({ name }) => GENERAL.includes(name) || parseFilterName(name) !== undefined)
      .map(({ name, schema }) => [name, schema]),
  )
  const given: [name: string, value: unknown][] = Object.entries({ q, tag, untagged })
  const query = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  for (const condition of filter) {
    const [name, value] = splitCondition(condition, properties)
    query[name] = query[name] === undefined ? value : [query[name], value].flat()
  }
  const isValid = parameterCompiler()({ type: 'object', properties })
  if (!isValid(query))
    throw new CommandError(`invalid filter: ${describeParameterError(known(isValid.errors?.[0]))}`)
  const selected = toPlantFilter(query as Omit<ListQuery, 'limit'>, codec)
  if ('problem' in selected) throw new CommandError(`invalid filter: ${selected.problem}`)
  const isMatch = toMatch(selected)
  return (plant) =>
    (selected.tag === undefined || plant.tag === (selected.tag ?? undefined)) &&
    isMatch(plant.name, plant.fields)
}

/** The name of a parameter can contain `=`. */
function splitCondition(condition: string, properties: object): [name: string, value: string] {
  for (let at = condition.indexOf('='); at !== -1; at = condition.indexOf('=', at + 1)) {
    const name = condition.slice(0, at)
    if (parseFilterName(name) !== undefined && Object.hasOwn(properties, name))
      return [name, condition.slice(at + 1)]
  }
  const example = Object.keys(properties).find((name) => !GENERAL.includes(name))
  const expected =
    example === undefined ? 'the plants have no own fields' : `expected one such as ${example}=…`
  throw new CommandError(`unknown filter "${condition}": ${expected}`)
}
