/** Changes of many plants, imports and their undos, while others change the same plants. */
import fc from 'fast-check'
import t from 'tap'
import type { Plant } from '../../../../client/client.ts'
import { TabStorage } from '../../../../page/access/tab-storage.ts'
import { type ChangeOptions, ChangeRun } from '../../../../page/changes/change-run.ts'
import type { Intent } from '../../../../page/changes/intent.ts'
import { UndoLog } from '../../../../page/changes/undo-log.ts'
import { importRecords } from '../../../../page/transfer/import/import-run.ts'
import { runs } from '../../../helpers/plants/runs.ts'
import { inTurn, type Schedule, underSchedules } from '../../../interleavings/schedules.ts'
import { openTab } from '../../tab.ts'
import { checkReached, Judge, type Report } from './judge.ts'
import { type Delay, SharedService } from './shared-service.ts'

/** The plants that are there at first. */
const STORED = [1n, 2n, 3n, 4n]

/** Others can be added. */
const IDS = [...STORED, 5n, 6n]

const id = fc.constantFrom(...IDS)

const edit = fc.constantFrom('name', 'tag', 'untagged', 'both', 'removal')

/** `same` is what a run is to make of the plant, and `first` what it was at first. */
const change = fc.constantFrom('name', 'tag', 'plant', 'removal', 'first', 'same')

const many = { size: 'max' } as const

const scenarios = fc.record({
  /** What a person does to many plants. */
  edits: fc.uniqueArray(fc.record({ id: fc.constantFrom(...STORED), edit }), {
    selector: ({ id }) => id,
    minLength: 1,
    maxLength: STORED.length,
    ...many,
  }),
  /** The plants of a file. */
  records: fc.uniqueArray(fc.record({ id, isTagged: fc.boolean() }), {
    selector: ({ id }) => id,
    minLength: 1,
    maxLength: IDS.length,
    ...many,
  }),
  changes: fc.array(fc.record({ id, change }), { maxLength: 10, ...many }),
  /** Undefined for a network without faults. */
  delays: fc.option(
    fc.array(fc.constantFrom<Delay[]>('none', 'request lost', 'response lost', 'repeated'), {
      maxLength: 12,
      ...many,
    }),
    { nil: undefined },
  ),
  /** Whether the person cancels the change and the import. */
  cancels: fc.tuple(fc.boolean(), fc.boolean()),
})

type Scenario = typeof scenarios extends fc.Arbitrary<infer Value> ? Value : never

interface RunOptions extends Omit<ChangeOptions<Intent>, 'onRefused'> {
  readonly onRefused: (refusal: { readonly intent: Pick<Intent, 'id'> }) => void
  readonly report: Report
}

/** How often something has happened in all scenarios. */
const reached = { 'a refused plant': 0, 'an undo that is refused': 0, 'a canceled run': 0 }

class Scene {
  readonly #schedule: Schedule
  readonly #scenario: Scenario
  readonly #service: SharedService
  readonly #judge: Judge
  readonly #log = new UndoLog(new TabStorage())
  readonly #first = new Map<bigint, Plant>()
  readonly #edits: readonly Intent[]
  readonly #imports: readonly Intent[]
  /** Whether each run learns what has become of its requests. */
  readonly #isReliable: boolean
  #texts = 0

  constructor(schedule: Schedule, scenario: Scenario) {
    this.#schedule = schedule
    this.#scenario = scenario
    const { delays, cancels } = scenario
    this.#isReliable = delays === undefined && !cancels.includes(true)
    this.#service = new SharedService(schedule, inTurn(delays ?? [], 'none'))
    this.#judge = new Judge(schedule)
    this.#service.onWrite = (write) => this.#judge.see(write)
    for (const id of STORED) {
      this.#first.set(id, { name: this.#newText(), tag: this.#newText() })
      this.#service.put('others', id, this.#first.get(id))
    }
    this.#edits = scenario.edits.map(({ id, edit }) => {
      const before = this.#first.get(id) as Plant
      return { id, before, after: this.#edited(before, edit) }
    })
    this.#imports = scenario.records.map(({ id, isTagged }) => {
      // Two runs that remove the tag of a plant do the same.
      const hasTag = isTagged || !this.#isReliable
      const after = { name: this.#newText(), ...(hasTag && { tag: this.#newText() }) }
      return { id, before: this.#first.get(id), after }
    })
  }

  /** Begins everything that happens at the same time. */
  begin(): void {
    const [cancelsEdits, cancelsImport] = this.#scenario.cancels
    this.#runAndUndo('change', this.#edits, cancelsEdits, (options) => this.#edit(options))
    this.#runAndUndo('import', this.#imports, cancelsImport, (options) => this.#import(options))
    this.#changeByOthers()
  }

  #newText(): string {
    this.#texts += 1
    return `text ${this.#texts}`
  }

  #edited(plant: Plant, edit: string): Plant | undefined {
    if (edit === 'removal') return undefined
    if (edit === 'untagged') return { name: plant.name }
    const name = edit === 'tag' ? plant.name : this.#newText()
    return { ...plant, name, ...(edit !== 'name' && { tag: this.#newText() }) }
  }

  async #changeByOthers(): Promise<void> {
    const intents = [...this.#edits, ...this.#imports]
    for (const { id, change } of this.#scenario.changes) {
      await this.#schedule.step(`others: ${change} ${id}`)
      const stored = this.#service.plants.get(id)
      const same = intents.find((intent) => intent.id === id)
      let next = this.#edited(stored ?? { name: this.#newText() }, change)
      if (change === 'first') next = this.#first.get(id)
      if (change === 'same' && same !== undefined) next = same.after
      // What others do in the same way cannot be told apart from what was lost.
      const isSame = intents.some((intent) => intent.id === id && isLike(intent, next))
      if (this.#isReliable || !isSame) this.#service.put('others', id, next)
    }
  }

  async #runAndUndo(
    author: string,
    intents: readonly Intent[],
    isCanceled: boolean,
    run: (options: RunOptions) => Promise<void>,
  ): Promise<void> {
    this.#judge.permit(author, intents)
    const controller = new AbortController()
    const key = this.#log.begin(author)
    const options = this.#options(author, controller.signal, (...undo) =>
      this.#log.add(key, ...undo),
    )
    const ending = run(options).then(
      () => true,
      (error) => {
        this.#schedule.expect(error, controller.signal.reason, 'only a canceled run fails')
        return false
      },
    )
    if (isCanceled) this.#cancel(author, controller)
    const isFinished = await ending
    await this.#service.settled()
    const { report } = options
    if (isFinished) this.#judge.checkRun(author, intents, report, this.#isReliable)
    if (!isFinished) reached['a canceled run'] += 1
    if (report.refused.size > 0) reached['a refused plant'] += 1
    await this.#undo(author, key, report)
  }

  async #cancel(author: string, controller: AbortController): Promise<void> {
    await this.#schedule.steps(3)
    await this.#schedule.step(`cancel the ${author}`)
    controller.abort(new Error('canceled'))
  }

  async #undo(undone: string, key: number, done: Report): Promise<void> {
    const operation = this.#log.find(key)
    const author = `undo of the ${undone}`
    this.#judge.permit(author, { undoes: undone })
    const options = this.#options(author, new AbortController().signal, async () => {})
    const run = new ChangeRun<Intent>(options)
    let count = 0
    if (operation !== undefined) {
      for await (const intent of this.#log.intents(operation)) {
        count += 1
        await run.add(intent)
      }
    }
    await run.flush()
    const { counted, refused } = options.report
    this.#schedule.expect(counted + refused.size, count, `the ${author} counts each plant once`)
    if (refused.size > 0) reached['an undo that is refused'] += 1
    // A lost change of several members is refused if others have changed one of them since.
    this.#judge.checkUndo(undone, done.unknown, refused.union(done.refused))
  }

  async #edit(options: RunOptions): Promise<void> {
    const run = new ChangeRun<Intent>(options)
    for (const intent of this.#edits) {
      await run.add(intent)
      if (intent.id % 2n === 0n) await run.flush()
    }
    await run.flush()
  }

  #import({ onRefused, ...options }: RunOptions): Promise<void> {
    const different = this.#imports.flatMap(({ id, before }) =>
      before === undefined ? [] : [[id, { id, ...before }] as const],
    )
    const records = this.#imports.map(({ id, after }, index) => ({
      number: index + 1,
      values: { id, ...after },
    }))
    return importRecords(inOrder(records), {
      ...options,
      onRefused: ({ record }) => onRefused({ intent: { id: record.values.id as bigint } }),
      onConflict: 'replace',
      read: ({ values }) => ({ id: values.id as bigint, values: values as never }),
      seen: { different: new Map(different), same: new Set() },
    })
  }

  #options(
    author: string,
    signal: AbortSignal,
    record: ChangeOptions<Intent>['onChanged'],
  ): RunOptions {
    const refused = new Set<bigint>()
    const report = { counted: 0, refused, unknown: 0 }
    return {
      report,
      client: this.#service.client(author),
      canRead: true,
      signal,
      onChanged: (undo, unknown) => {
        report.unknown += unknown
        return record(undo, unknown)
      },
      onRefused: ({ intent }) => {
        this.#schedule.expect(refused.has(intent.id), false, `${author} refuses a plant once`)
        refused.add(intent.id)
      },
      onProgress: (counts) => {
        report.counted = Object.values(counts).reduce((sum, count) => sum + count, 0)
      },
      onFailure: async () => {
        await this.#schedule.step(`${author} continues`)
        signal.throwIfAborted()
      },
    }
  }
}

t.test('runs and undos change only what they may, and report all that they do', async (t) => {
  openTab(t)
  await underSchedules(
    scenarios,
    async (schedule, scenario) => {
      new Scene(schedule, scenario).begin()
      await schedule.finish()
    },
    { numRuns: runs(250) },
  )
  checkReached(reached)
})

/** Whether a plant has a value that an intent gives it. */
function isLike({ before, after }: Intent, plant: Plant | undefined): boolean {
  return (['name', 'tag'] as const).some(
    (name) => before?.[name] !== after?.[name] && plant?.[name] === after?.[name],
  )
}

async function* inOrder<Item>(items: readonly Item[]): AsyncGenerator<Item, void> {
  yield* items
}
