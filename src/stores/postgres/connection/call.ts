import type { InFlight } from '../../in-flight.ts'
import {
  CONFIGURATION,
  CONFIGURED_AT,
  type Configuration,
  type StandbyGuarantee,
} from '../durability/standby-guarantee.ts'
import type { Deadline } from './deadline.ts'
import type { Hosts } from './hosts.ts'
import { isRetryable } from './postgres-errors.ts'
import { Session } from './session.ts'
import type { Statement } from './statement-group.ts'

/** How many times to attempt a transaction that the server keeps rolling back in favor of others. */
export const ATTEMPTS_MAX = 10

const BEGIN = { text: 'BEGIN' }
const COMMIT = { text: 'COMMIT' }
const FIND_CONFIGURED_AT = { text: `SELECT ${CONFIGURED_AT}` }
const FIND_CONFIGURATION = { text: `SELECT ${CONFIGURATION}` }

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

  /** Like `query`, but also verifies that the required standbys have the change. */
  change<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    const { guarantee, deadline } = this.#context
    if (!guarantee?.isRequired) return this.query(text, values)
    const statement = toStatement(text, values)
    return this.#verify(guarantee, async (session) => {
      const group = [BEGIN, FIND_CONFIGURED_AT, statement, COMMIT, FIND_CONFIGURATION] as const
      const [, before, rows, , after] = await session.runGroup(group, deadline)
      return { result: rows as Row[], before, after }
    })
  }

  /**
   * Runs a transaction, and repeats it if the server rolls it back in favor of others.
   *
   * @param work may be called several times; throws to roll back
   * @throws StoreUnavailable as for `change`, and any error that `work` throws
   */
  transaction<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    const { guarantee, deadline } = this.#context
    const runIn =
      (session: Session): Run =>
      (text, values) =>
        session.run(toStatement(text, values), deadline)
    if (!guarantee?.isRequired) {
      return this.#attempt(async (session) => {
        await session.run(BEGIN, deadline)
        const result = await work(runIn(session))
        await session.run(COMMIT, deadline)
        return result
      })
    }
    return this.#verify(guarantee, async (session) => {
      const [, before] = await session.runGroup([BEGIN, FIND_CONFIGURED_AT], deadline)
      const result = await work(runIn(session))
      const [, after] = await session.runGroup([COMMIT, FIND_CONFIGURATION], deadline)
      return { result, before, after }
    })
  }

  /** @param work resolves to its result, and to the rows of FIND_CONFIGURED_AT and FIND_CONFIGURATION */
  async #verify<Result>(
    guarantee: StandbyGuarantee,
    work: (session: Session) => Promise<{
      readonly result: Result
      readonly before: readonly object[] | undefined
      readonly after: readonly object[] | undefined
    }>,
  ): Promise<Result> {
    guarantee.assertHeld()
    const { result, before, after } = await this.#attempt(work)
    const [[first], [last]] = [before, after] as [[Configuration], [Configuration]]
    guarantee.confirm(last, first.configured_at)
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
