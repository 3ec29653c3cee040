import { extendContract, loadContract, plantMembers } from '../../core/contract/contract.ts'
import { compileComponent, type Validator } from '../../core/contract/validators.ts'
import type { components } from '../../core/generated/api.gen.ts'
import { known } from '../../core/known.ts'
import type { OwnField } from '../../core/members/own-fields.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import type { NewPlant } from '../../service/store/plant-store.ts'
import { brokenAnswer, MirrorError } from './source-failures.ts'

const ADVICE = 'start the mirror with --contract and an overlay that has the fields of the source'

/** How much of a name is shown, in UTF-16 units. */
const SHOWN_LENGTH_MAX = 100

/** Checks plants of the source, so that no part of them is lost. */
export class SourcePlants {
  /** The names of the own fields whose values are bigints. */
  readonly int64Fields: readonly string[]
  readonly #isPlant: Validator
  readonly #fields: ReadonlySet<string>
  readonly #names: ReadonlySet<string>
  readonly #codec: PlantCodec

  /** @param fields the own fields that the plants of the mirror can have */
  constructor(fields: readonly OwnField[]) {
    const contract = extendContract(loadContract(), fields)
    const members = plantMembers(contract)
    const int64 = fields.filter(({ schema }) => schema.format === 'int64')
    this.int64Fields = int64.map(({ name }) => name)
    this.#isPlant = compileComponent(contract, 'StoredPlant')
    this.#fields = new Set(fields.map(({ name }) => name))
    this.#names = new Set(members.map(({ name }) => name))
    this.#codec = new PlantCodec(members)
  }

  /**
   * Converts a plant to put. It clears the own fields that it does not have.
   *
   * @throws MirrorError if it is invalid, or has members that the mirror's plants cannot have
   */
  read(plant: components['schemas']['StoredPlant']): NewPlant {
    if (!this.#isPlant(plant)) throw this.#explainInvalid(plant.id)
    const unknown = Object.keys(plant).find((name) => !this.#names.has(name))
    if (unknown !== undefined) {
      const name = JSON.stringify(unknown.slice(0, SHOWN_LENGTH_MAX))
      throw new MirrorError(
        `plant ${plant.id} of the source has the property ${name}, which the mirror does not know; ${ADVICE}`,
      )
    }
    return this.#codec.toPlant(plant)
  }

  #explainInvalid(id: bigint): MirrorError {
    const { instancePath, message } = known(this.#isPlant.errors?.[0])
    // A JSON pointer (RFC 6901 §4).
    const name = instancePath.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
    const fault = `plant ${id}, whose ${name} ${message}`
    if (!this.#fields.has(name)) return brokenAnswer(fault)
    return new MirrorError(`the mirror does not accept ${fault}; ${ADVICE}`)
  }
}
