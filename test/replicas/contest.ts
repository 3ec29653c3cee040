import { randomBytes } from 'node:crypto'
import { inspect, isDeepStrictEqual } from 'node:util'
import type { NewPlant, StoredPlant } from '../../service/plant-store.ts'

/** A create of a plant through one of the replicas. */
export interface Attempt {
  readonly plant: NewPlant
  /** Index of the replica. */
  readonly replica: number
}

/** The plants that are created with one id. Some differ as little as plants can. */
const CONTENTS = [
  { name: 'Abies alba Mill.' },
  { name: 'Abies alba Mill.', tag: '' },
  { name: 'Abies alba Mill.', tag: 'Tree' },
  { name: 'Abies alba' },
]

/** Number of creates of each. */
const REPEATS = 3

/** Different plants that are created with one id, each several times through different replicas. */
export class Contest {
  readonly id = randomBytes(8).readBigInt64BE()
  readonly attempts: readonly Attempt[]
  readonly #underWay = new Set<Attempt>()
  readonly #answers = new Map<Attempt, number>()
  #isClose = false

  constructor(replicas: number) {
    this.attempts = CONTENTS.flatMap((content, index) =>
      Array.from({ length: REPEATS }, (_, repeat) => ({
        plant: { id: this.id, ...content },
        replica: (index + repeat) % replicas,
      })),
    )
  }

  sent(attempt: Attempt): void {
    this.#underWay.add(attempt)
  }

  answered(attempt: Attempt, status: number): void {
    if (this.#answers.size === 0) this.#isClose = differ([...this.#underWay])
    this.#underWay.delete(attempt)
    this.#answers.set(attempt, status)
  }

  /** Whether creates of different plants were in flight through different replicas at the first response. */
  get isClose(): boolean {
    return this.#isClose
  }

  /** Number of responses with a status. */
  count(status: number): number {
    return [...this.#answers.values()].filter((each) => each === status).length
  }

  /** Describes each response that contradicts the stored plant. */
  faults(stored: readonly StoredPlant[]): string[] {
    const [winner] = stored
    if (winner === undefined || stored.length > 1)
      return [`${this.id} is stored ${stored.length} times`]
    return this.attempts.flatMap((attempt) => {
      const { plant } = attempt
      const status = this.#answers.get(attempt)
      const expected = isDeepStrictEqual(plant, winner) ? 200 : 409
      return status === expected
        ? []
        : [`${status} for ${inspect(plant)}, but ${inspect(winner)} is stored`]
    })
  }
}

function differ(attempts: readonly Attempt[]): boolean {
  const contents = new Set(attempts.map(({ plant }) => inspect(plant)))
  const replicas = new Set(attempts.map(({ replica }) => replica))
  return contents.size > 1 && replicas.size > 1
}
