import { tmpdir } from 'node:os'
import Sqlite from 'better-sqlite3'
import { openStore } from '../../src/stores/engines.ts'
import { Teardowns } from '../../tools/tap/teardowns.ts'
import { makeFolder } from '../../tools/tap/temporary-folders.ts'
import { createAll } from '../helpers/plants/lists.ts'
import type { Owner } from '../helpers/processes/command.ts'
import { MEMORY_MAX, Target } from './target.ts'
import { formatTally, Witness } from './witness.ts'

/** More than `--shutdown-timeout` and the exit of the process take. */
const STOP_MS = 20_000

/** Characters of a long name: 1,000 of them are 9 MB. */
const LONG = 9000

/** A service and its well-behaved clients, for something to attack. */
export class Trial {
  readonly target: Target
  readonly witness: Witness

  private constructor(target: Target) {
    this.target = target
    this.witness = new Witness(target.port)
  }

  static async start(owner: Owner, database: string, args: readonly string[] = []) {
    return new Trial(await Target.start(owner, database, args))
  }

  /**
   * Stops the service, which can have attackers connected, and looks for harm.
   *
   * @param faults what other clients have found
   * @param acknowledged plants that other clients have created
   */
  async end(faults: readonly string[], acknowledged: ReadonlyMap<bigint, string> = new Map()) {
    const { target, witness } = this
    const isAlive = await witness.answered()
    await witness.stop()
    const { memory, descriptors } = target
    const { end, ms } = await target.stop(STOP_MS)
    const plants = new Map([...witness.acknowledged, ...acknowledged])
    const missing = missingFrom(target.database, plants)
    const stderr = end === 0 ? '' : target.command.stderr.slice(-3000)
    const problems = [
      ...faults,
      ...witness.faults,
      ...target.loggedErrors().map((line) => `logged: ${line}`),
      !isAlive && 'the process does not respond',
      memory > MEMORY_MAX && `${memory} MiB exceed the bound of ${MEMORY_MAX}`,
      end !== 0 && `the process ended with ${end} after ${ms} ms: ${stderr}`,
      missing.length > 0 && `${missing.length} plants are missing: ${missing.slice(0, 20)}`,
    ].filter((problem) => problem !== false)
    const seen = Object.entries(witness.probes).map(([name, probe]) => {
      const [p50, p99, max] = [0.5, 0.99, 1].map((share) => probe.percentile(share).toFixed(0))
      return `${name}: p50 ${p50} ms, p99 ${p99} ms, max ${max} ms (${formatTally(probe.statuses)})`
    })
    const summary = [
      `${memory} MiB and ${descriptors} descriptors at most, stopped with ${end} in ${ms} ms`,
      ...seen,
      `${plants.size} acknowledged plants checked`,
      ...(problems.length === 0 ? ['nothing found'] : problems),
    ].join('\n  ')
    return { problems, summary }
  }
}

/** Ids of plants that are missing from the database, or have another name there. */
function missingFrom(database: string, plants: ReadonlyMap<bigint, string>): bigint[] {
  const db = new Sqlite(database, { readonly: true }).defaultSafeIntegers()
  try {
    const nameOf = db.prepare<[bigint], string>('SELECT name FROM plants WHERE id = ?').pluck()
    return [...plants].filter(([id, name]) => nameOf.get(id) !== name).map(([id]) => id)
  } finally {
    db.close()
  }
}

/**
 * Creates a database of plants with ids from 1 for attacks to read.
 *
 * @param long how many of them, from the first, have long names
 */
export async function makeStock(database: string, plants: number, long: number): Promise<void> {
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  const stock = Array.from({ length: plants }, (_, index) => {
    const name = index < long ? 'x'.repeat(LONG) : 'Abies alba Mill.'
    return { id: BigInt(index + 1), name, tag: 'Tree' }
  })
  await createAll(store, stock)
  await store.close()
}

/** Calls `act` with a new folder, which is removed afterwards, and an owner of processes. */
export async function inFolder(act: (folder: string, owner: Owner) => Promise<void>) {
  const owner = new Teardowns()
  try {
    await act(makeFolder(owner, tmpdir()), owner)
  } finally {
    await owner.run()
  }
}
