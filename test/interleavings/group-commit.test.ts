import { equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import {
  GroupCommit,
  type Postponed,
  type Size,
  sumSizes,
  WaitingChanges,
} from '../../src/stores/shared/group-commit.ts'
import { inTurn, type Schedule, underSchedules } from './schedules.ts'

/** The limits, as documented. */
const TRANSACTION_MAX = { changes: 512, text: 2 ** 23 }
const THREADS = 4
const WAITING_MAX = { changes: 2500, text: 2 ** 24 }
const BATCHES_MAX = 0.8 * WAITING_MAX.changes

interface Change {
  /** In the order in which they were submitted. */
  readonly number: number
  readonly size: Size
}

/** `postponed`: the transaction had room for the first change only. */
type Outcome = 'done' | 'postponed' | 'unavailable' | 'bug'

const sizes = fc.record({
  changes: fc.oneof({ weight: 2, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 700 })),
  text: fc.oneof(
    { weight: 3, arbitrary: fc.constant(1) },
    fc.integer({ min: 2 ** 21, max: 2 ** 24 }),
  ),
})

const scenarios = fc.record({
  /** Clients that submit changes, each of them several times in the same turn of the event loop. */
  submissions: fc.array(fc.record({ size: sizes, count: fc.constantFrom(1, 1, 2, 3, 400) }), {
    minLength: 1,
    maxLength: 12,
  }),
  outcomes: fc.array(fc.constantFrom<Outcome[]>('done', 'done', 'postponed', 'unavailable', 'bug')),
  settlers: fc.nat({ max: 3 }),
})

t.test(
  'each change resolves once with its own result or error, in bounded transactions, one at a time',
  () =>
    underSchedules(scenarios, async (schedule, { submissions, outcomes, settlers }) => {
      const model = new Model(schedule, outcomes)
      for (const { size, count } of submissions) {
        schedule.step('submit').then(() => {
          for (let each = 0; each < count; each++) model.submit(size)
          schedule.turn().then(() => model.checkBusy())
        })
      }
      let settled = 0
      for (let each = 0; each < settlers; each++) {
        schedule
          .step('settle')
          .then(() => model.changes.settle())
          .then(() => {
            settled++
            schedule.expect(model.unsettled.size, 0, 'changes after settle()')
          })
      }
      await schedule.finish()
      equal(model.unsettled.size, 0, 'changes without a result')
      equal(settled, settlers, 'settle() resolves')
      equal(String(model.waiting), '0 changes with 0 characters')
    }),
)

/** A writer that ends its commits in order, and the changes that it must have. */
class Model {
  readonly waiting = new WaitingChanges(THREADS)
  readonly changes: GroupCommit<Change, Change>
  readonly #schedule: Schedule
  readonly #nextOutcome: () => Outcome
  #submitted = 0
  /** Accepted, and not in a transaction yet. */
  #queue: Change[] = []
  readonly #postponed = new Set<Change>()
  /** Postponed and rejected, because too many others wait. */
  readonly #dropped = new Set<Change>()
  #isCommitting = false
  /** The error that a change must be rejected with. */
  readonly #errors = new Map<Change, Error>()
  readonly unsettled = new Set<Change>()
  /** Of all unsettled changes. */
  #size: Size = { changes: 0, text: 0 }

  constructor(schedule: Schedule, outcomes: readonly Outcome[]) {
    this.#schedule = schedule
    this.#nextOutcome = inTurn(outcomes, 'done')
    this.changes = new GroupCommit({
      commit: (taken) => this.#commit(taken),
      sizeOf: ({ size }) => size,
      waiting: this.waiting,
    })
  }

  submit(size: Size): void {
    const change = { number: this.#submitted++, size }
    const isAccepted = this.#hasRoom(size)
    const result = this.changes.submit(change)
    if (isAccepted) {
      this.#queue.push(change)
      this.unsettled.add(change)
      this.#size = sumSizes([this.#size, size])
    }
    result.then(
      (value) => {
        this.#settle(change, isAccepted)
        this.#schedule.expect(value, change, 'the result of another change')
        this.#schedule.expect(this.#errors.get(change), undefined, 'a result after a failure')
      },
      (error) => {
        this.#settle(change, isAccepted)
        const isKept = isAccepted && !this.#dropped.has(change)
        if (isKept) this.#schedule.expect(error, this.#errors.get(change), 'another error')
        else this.#schedule.expect(error.reason, 'busy', 'not busy')
      },
    )
  }

  /** After a turn of the event loop, only a busy writer keeps changes waiting. */
  checkBusy(): void {
    const isWaiting = this.#queue.some((change) => !this.#isLarge(change))
    this.#schedule.expect(
      isWaiting && !this.#isCommitting,
      false,
      'changes wait for an idle writer',
    )
  }

  #settle(change: Change, isAccepted: boolean): void {
    if (!isAccepted) return
    this.unsettled.delete(change)
    const { changes, text } = change.size
    this.#size = sumSizes([this.#size, { changes: -changes, text: -text }])
  }

  #hasRoom({ changes }: Size): boolean {
    const max = changes > 1 ? BATCHES_MAX : WAITING_MAX.changes
    return this.#size.changes + changes <= max && this.#size.text < WAITING_MAX.text
  }

  async #commit(taken: readonly Change[]): Promise<(Change | Postponed)[]> {
    this.#schedule.expect(this.#isCommitting, false, 'two transactions in flight')
    this.#isCommitting = true
    this.#checkLimits(taken)
    this.#checkOrder(taken)
    const others = new Set(this.#queue).difference(new Set(taken))
    this.#queue = [...others]
    await this.#schedule.step('commit')
    this.#isCommitting = false
    const outcome = this.#nextOutcome()
    if (outcome === 'done') return [...taken]
    if (outcome === 'postponed') return this.#postpone(taken)
    const error = outcome === 'bug' ? new Error('a bug') : new StoreUnavailable('failing', 'full')
    for (const change of taken) this.#errors.set(change, error)
    if (outcome === 'unavailable') {
      for (const change of this.#queue.splice(0)) this.#errors.set(change, error)
    }
    throw error
  }

  #postpone(taken: readonly Change[]): (Change | Postponed)[] {
    const before = this.#queue.filter((change) => this.#postponed.has(change))
    const end = 1 + this.waiting.postponedMax - before.length
    const kept = taken.slice(1, end)
    for (const change of taken.slice(end)) this.#dropped.add(change)
    for (const change of kept) this.#postponed.add(change)
    this.#queue = [...new Set([...before, ...kept, ...this.#queue])]
    return taken.map((change, index) => (index === 0 ? change : 'postponed'))
  }

  /** Whether a change waits while others fill the transaction. */
  #isLarge = (change: Change): boolean => isBatch(change) || this.#postponed.has(change)

  #checkLimits(taken: readonly Change[]): void {
    const expect = (isMet: boolean, limit: string) => this.#schedule.expect(isMet, true, limit)
    expect(taken.length > 0, 'a transaction has changes')
    const large = taken.filter(this.#isLarge)
    const small = taken.filter((change) => !this.#isLarge(change))
    expect(numbersOf(taken) === numbersOf([...large, ...small]), 'a transaction begins with one')
    expect(!isFull(small.slice(0, -1)), 'a transaction is bounded')
    expect(large.length <= 1 || !isFull([...small, ...large.slice(0, -1)]), 'it has room for one')
    expect(large.length > 0 || !this.#queue.some(this.#isLarge), 'a large change is not overtaken')
  }

  /** Changes are taken from the front of their queue. */
  #checkOrder(taken: readonly Change[]): void {
    for (const isQueued of [this.#isLarge, (change: Change) => !this.#isLarge(change)]) {
      const some = taken.filter(isQueued)
      const first = this.#queue.filter(isQueued).slice(0, some.length)
      this.#schedule.expect(numbersOf(some), numbersOf(first), 'the first changes of a queue')
    }
  }
}

function numbersOf(changes: readonly Change[]): string {
  return changes.map(({ number }) => number).join()
}

function isFull(taken: readonly Change[]): boolean {
  const { changes, text } = sumSizes(taken.map(({ size }) => size))
  return changes >= TRANSACTION_MAX.changes || text >= TRANSACTION_MAX.text
}

function isBatch({ size }: Change): boolean {
  return size.changes > 1
}
