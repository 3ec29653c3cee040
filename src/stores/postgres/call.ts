import type { InFlight } from '../in-flight.ts'
import type { Deadline } from './deadline.ts'
import { isRetryable } from './errors.ts'
import type { Hosts } from './hosts.ts'
import { Session } from './session.ts'
import { OBSERVATION, type Observation, type StandbyGuarantee } from './standby-guarantee.ts'
import type { Statement } from './statement-group.ts'

/** How many times to attempt a transaction that the server keeps rolling back in favor of others. */
export const ATTEMPTS_MAX = 10

const BEGIN = { text: 'BEGIN' }
const COMMIT = { text: 'COMMIT' }
const OBSERVE = { text: `SELECT ${OBSERVATION}` }

/** Runs a statement on one connection, and resolves to its rows. */
export type Run = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

export interface CallContext {
  readonly hosts: Hosts
  /** Sessions whose statements are still being canceled. */
  readonly abandoned: InFlight
  readonly deadline: Deadline
  /** Verifies changes and transactions. */
  readonly guarantee?: StandbyGuarantee
}

/** A call of the store. All its statements and transactions, with their connections and retries, share a deadline. */
export class Call {
  readonly #context: CallContext

  constructor(context: CallContext) {
    this.#context = context
  }

  /**
   * Runs one statement in a transaction of its own.
   *
   * @throws StoreUnavailable if the server cannot run it now; it may have taken effect
   */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    const { deadline } = this.#context
    return this.#attempt((session) => session.run<Row>(toStatement(text, values), deadline))
  }

  /** Does the same as `query`, and verifies that the required standbys have the change. */
  change<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    const { guarantee } = this.#context
    if (!guarantee?.isRequired) return this.query(text, values)
    return this.#verify(guarantee, async (session) => {
      const statement = toStatement(text, values)
      const results = await session.runGroup(
        [BEGIN, statement, COMMIT, OBSERVE],
        this.#context.deadline,
      )
      return { result: results[1] as Row[], observed: results[3] }
    })
  }

  /**
   * Runs a transaction, and repeats it if the server rolls it back in favor of others.
   *
   * @param work may be called several times; throws to roll back
   * @throws StoreUnavailable as for `change`, and what `work` throws
   */
  transaction<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    const { deadline, guarantee } = this.#context
    const begin = async (session: Session) => {
      await session.run(BEGIN, deadline)
      return work((text, values) => session.run(toStatement(text, values), deadline))
    }
    if (!guarantee?.isRequired) {
      return this.#attempt(async (session) => {
        const result = await begin(session)
        await session.run(COMMIT, deadline)
        return result
      })
    }
    return this.#verify(guarantee, async (session) => {
      const result = await begin(session)
      const [, observed] = await session.runGroup([COMMIT, OBSERVE], deadline)
      return { result, observed }
    })
  }

  async #verify<Result>(
    guarantee: StandbyGuarantee,
    work: (session: Session) => Promise<{ result: Result; observed: object[] | undefined }>,
  ): Promise<Result> {
    guarantee.assertHeld()
    const { result, observed, elapsed } = await this.#attempt(async (session) => {
      const start = performance.now()
      const done = await work(session)
      return { ...done, elapsed: performance.now() - start }
    })
    const [observation] = observed as [Observation]
    guarantee.confirm(observation, elapsed)
    return result
  }

  async #attempt<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    const { hosts, deadline, abandoned } = this.#context
    for (let attempt = 1; ; attempt++) {
      const session = new Session(await hosts.connect(deadline))
      try {
        const result = await work(session)
        session.release()
        return result
      } catch (error) {
        const { rest } = await session.rollBack(error, deadline)
        abandoned.track(() => rest)
        if (!isRetryable(error) || attempt === ATTEMPTS_MAX) throw error
      }
    }
  }
}

function toStatement(text: string, values?: readonly unknown[]): Statement {
  return values === undefined ? { text } : { text, values }
}
