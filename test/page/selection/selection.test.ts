/** What a person selects with the mouse and with keys, and how many plants that are. */
import t from 'tap'
import { INT64_MAX, INT64_MIN } from '../../../core/json/int64.ts'
import { PAGE_SIZE, PlantList } from '../../../page/list/plant-list.ts'
import { IdRanges } from '../../../page/selection/id-ranges.ts'
import { PlantSelection } from '../../../page/selection/plant-selection.ts'
import { countSelected, rangesBetween } from '../../../page/selection/selected-count.ts'
import { named } from '../changes/run.ts'

/** The ranges, such as `1..3 7`. */
function describe({ ranges }: PlantSelection): string {
  return [...ranges].map(({ from, to }) => (from === to ? from : `${from}..${to}`)).join(' ')
}

/** The plants 1 to 10,000, of which those near 5,000 are in memory, and those near some others. */
function longList({ kept = [] as bigint[], isComplete = true, first = 1 } = {}): PlantList {
  const list = new PlantList({ filter: {}, ...(first !== 1 && { first: BigInt(first) }) })
  for (let start = first; start < 10_000; start += PAGE_SIZE) {
    list.append(named('Abies', start, PAGE_SIZE), false)
  }
  list.append([], isComplete)
  list.forget(5000 - first, 5020 - first, kept)
  return list
}

const beyond = () => longList({ isComplete: false, first: 4801 })

const betweenIds = (one: bigint, other: bigint) =>
  rangesBetween(new PlantList({ filter: {} }), one, other)

/** What a person does, and what is selected then. */
type Step = readonly [
  action: 'toggle' | 'extend' | 'extendFrom' | 'selectAll' | 'clear',
  ids: readonly bigint[],
  selected: string,
]

for (const { what, steps } of [
  {
    what: 'a plant is selected and deselected',
    steps: [
      ['toggle', [3n], '3'],
      ['toggle', [5n], '3 5'],
      ['toggle', [3n], '5'],
    ],
  },
  {
    what: 'an extension starts at the last toggled plant, and replaces the one before',
    steps: [
      ['toggle', [2n], '2'],
      ['toggle', [20n], '2 20'],
      ['extend', [25n], '2 20..25'],
      ['extend', [22n], '2 20..22'],
      ['extend', [1n], '1..20'],
      ['extend', [20n], '2 20'],
    ],
  },
  {
    what: 'an extension from a deselected plant deselects, and one without a start selects',
    steps: [
      ['extend', [1n], '1'],
      ['extend', [9n], '1..9'],
      ['toggle', [3n], '1..2 4..9'],
      ['extend', [5n], '1..2 6..9'],
    ],
  },
  {
    what: 'keys extend from the focused plant, and back',
    steps: [
      ['extendFrom', [4n, 5n], '4..5'],
      ['extendFrom', [5n, 6n], '4..6'],
      ['extendFrom', [6n, 5n], '4..5'],
      // The focus has moved on without a selection.
      ['extendFrom', [10n, 9n], '4..5 9..10'],
    ],
  },
  {
    what: 'all plants are selected, and none',
    steps: [
      ['toggle', [4n], '4'],
      ['selectAll', [], `${INT64_MIN}..${INT64_MAX}`],
      ['extendFrom', [4n, 5n], `${INT64_MIN}..${INT64_MAX}`],
      ['toggle', [0n], `${INT64_MIN}..-1 1..${INT64_MAX}`],
      ['clear', [], ''],
      // An extension does not start before.
      ['extend', [8n], '8'],
    ],
  },
] as const satisfies readonly { what: string; steps: readonly Step[] }[]) {
  t.test(what, async (t) => {
    const selection = new PlantSelection(betweenIds)
    let changes = 0
    selection.subscribe(() => changes++)
    for (const [action, [id = 0n, other = 0n], selected] of steps as readonly Step[]) {
      selection[action](id, other)
      t.equal(describe(selection), selected)
    }
    t.equal(changes, steps.length)
  })
}

t.test('the ends of ranges stay in memory, unless there are many', async (t) => {
  const selection = new PlantSelection(betweenIds)
  selection.toggle(1n)
  t.strictSame(selection.kept, [], 'a single plant needs not be counted')
  selection.extend(3n)
  t.strictSame(selection.kept, [1n, 3n])
  for (let start = 10n; start < 1000n; start += 10n) {
    selection.toggle(start)
    selection.extend(start + 1n)
  }
  t.equal(selection.kept.length, 40)
})

const some = (...ranges: readonly (readonly [from: bigint, to: bigint])[]) =>
  ranges.reduce((all, [from, to]) => all.add(from, to), IdRanges.NONE)

t.test('a list that is in memory counts what is selected', async (t) => {
  const list = new PlantList({ filter: {} })
  list.append([...named('Abies', 1, 5), ...named('Abies', 11, 5)], true)
  for (const { ranges, plants, gone } of [
    { ranges: IdRanges.NONE, plants: 0 },
    { ranges: IdRanges.ALL, plants: 10 },
    { ranges: some([3n, 12n]), plants: 5 },
    { ranges: some([5n, 5n]), plants: 1 },
    { ranges: some([6n, 6n]), plants: 0 },
    { ranges: some([6n, 10n]), plants: 0 },
    { ranges: IdRanges.ALL.remove(3n, 3n), plants: 9 },
    { ranges: IdRanges.ALL, plants: 8, gone: [2n, 4n] },
    { ranges: some([3n, 4n]), plants: 1, gone: [2n, 4n] },
    { ranges: some([2n, 2n]), plants: 0, gone: [2n, 4n] },
  ]) {
    t.strictSame(countSelected(ranges, list, undefined, gone), { plants, isExact: true })
  }
})

t.test(
  'a range is exact while its ends are in memory, and a single plant counts as one',
  async (t) => {
    const changed = longList({ kept: [50n, 8050n] })
    changed.apply({ id: 2000n })
    const range = some([50n, 8050n])
    for (const { ranges, list, plants, isExact } of [
      { ranges: range, list: longList({ kept: [50n, 8050n] }), plants: 8001, isExact: true },
      // The ranges of the list have 200 plants each.
      { ranges: range, list: longList({ kept: [50n] }), plants: 7951, isExact: false },
      { ranges: range, list: longList({ kept: [8050n] }), plants: 7850, isExact: false },
      { ranges: range, list: longList(), plants: 7800, isExact: false },
      // Somebody has deleted a plant.
      { ranges: range, list: changed, plants: 8001, isExact: false },
      {
        ranges: some([5n, 5n], [5001n, 5001n], [20_000n, 20_000n]),
        list: longList({ isComplete: false }),
        plants: 3,
        isExact: true,
      },
      { ranges: some([-5n, -5n]), list: longList({ first: 201 }), plants: 1, isExact: true },
      // Beyond the list.
      { ranges: some([4901n, 20_000n]), list: beyond(), plants: 5100, isExact: false },
      { ranges: some([1n, 4900n]), list: beyond(), plants: 100, isExact: false },
    ]) {
      t.strictSame(countSelected(ranges, list, undefined), { plants, isExact })
    }
    for (const ranges of [some([1n, 9n]), IdRanges.ALL]) {
      t.equal(countSelected(ranges, new PlantList({ filter: {} }), undefined), undefined)
    }
  },
)

t.test('all plants, or all but some, are counted from the total', async (t) => {
  const list = longList({ isComplete: false })
  const allBut = IdRanges.ALL.remove(7n, 7n).remove(5001n, 5010n)
  for (const isExact of [true, false]) {
    const total = { plants: 14_000, isExact }
    t.strictSame(countSelected(IdRanges.ALL, list, total), total)
    t.strictSame(countSelected(allBut, list, total), { plants: 13_989, isExact })
  }
  t.match(countSelected(allBut, list, undefined), { isExact: false })
  const fewer = { plants: 5, isExact: true }
  t.strictSame(countSelected(allBut, list, fewer), { plants: 0, isExact: true })
  const half = IdRanges.NONE.add(INT64_MIN, 5010n)
  t.match(countSelected(half, list, fewer), { isExact: false }, 'the rest cannot be counted either')
})
