/** What a person selects with the mouse and with keys, and how many plants that are. */
import t from 'tap'
import { INT64_MAX, INT64_MIN } from '../../contract/int64.ts'
import { PAGE_SIZE, PlantList } from '../../page/list/plant-list.ts'
import { IdRanges } from '../../page/selection/id-ranges.ts'
import { PlantSelection } from '../../page/selection/plant-selection.ts'
import { countSelected } from '../../page/selection/selected-count.ts'

/** The ranges, such as `1..3 7`. */
function describe({ ranges }: PlantSelection): string {
  return [...ranges].map(({ from, to }) => (from === to ? from : `${from}..${to}`)).join(' ')
}

const named = (start: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: BigInt(start + index), name: 'Abies' }))

/** The plants 1 to 10,000, of which those near 5,000 are in memory, and those near some others. */
function longList({ kept = [] as bigint[], isComplete = true, first = 1 } = {}): PlantList {
  const list = new PlantList({}, first === 1 ? undefined : BigInt(first))
  for (let start = first; start < 10_000; start += PAGE_SIZE) {
    list.append(named(start, PAGE_SIZE), false)
  }
  list.append([], isComplete)
  list.forget(5000 - first, 5020 - first, kept)
  return list
}

t.test('a plant is selected and deselected', async (t) => {
  const selection = new PlantSelection()
  let changes = 0
  selection.subscribe(() => changes++)
  t.ok(selection.ranges.isEmpty)
  selection.toggle(3n)
  selection.toggle(5n)
  t.equal(describe(selection), '3 5')
  selection.toggle(3n)
  t.equal(describe(selection), '5')
  t.equal(changes, 3)
})

t.test('an extension starts at the last toggled plant, and replaces the one before', async (t) => {
  const selection = new PlantSelection()
  selection.toggle(2n)
  selection.toggle(20n)
  selection.extend(25n)
  t.equal(describe(selection), '2 20..25')
  selection.extend(22n)
  t.equal(describe(selection), '2 20..22')
  selection.extend(15n)
  t.equal(describe(selection), '2 15..20')
  selection.extend(1n)
  t.equal(describe(selection), '1..20')
  selection.extend(20n)
  t.equal(describe(selection), '2 20')
})

t.test('an extension from a deselected plant deselects', async (t) => {
  const selection = new PlantSelection()
  selection.toggle(1n)
  selection.extend(9n)
  selection.toggle(3n)
  selection.extend(5n)
  t.equal(describe(selection), '1..2 6..9')
})

t.test('an extension without a start selects one plant', async (t) => {
  const selection = new PlantSelection()
  selection.extend(7n)
  t.equal(describe(selection), '7')
  selection.extend(9n)
  t.equal(describe(selection), '7..9')
})

t.test('keys extend from the focused plant, and back', async (t) => {
  const selection = new PlantSelection()
  selection.extendFrom(4n, 5n)
  selection.extendFrom(5n, 6n)
  t.equal(describe(selection), '4..6')
  selection.extendFrom(6n, 5n)
  t.equal(describe(selection), '4..5')
  // The focus has moved on without a selection.
  selection.extendFrom(10n, 9n)
  t.equal(describe(selection), '4..5 9..10')
})

t.test('all plants are selected, and none', async (t) => {
  const selection = new PlantSelection()
  selection.toggle(4n)
  selection.selectAll()
  t.ok(selection.ranges.isAll)
  selection.extendFrom(4n, 5n)
  t.ok(selection.ranges.isAll)
  selection.toggle(0n)
  t.equal(describe(selection), `${INT64_MIN}..-1 1..${INT64_MAX}`)
  selection.clear()
  t.ok(selection.ranges.isEmpty)
  selection.extend(8n)
  t.equal(describe(selection), '8', 'an extension does not start before')
})

t.test('the ends of ranges stay in memory, unless there are many', async (t) => {
  const selection = new PlantSelection()
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

t.test('a list that is in memory counts what is selected', async (t) => {
  const list = new PlantList({})
  list.append([...named(1, 5), ...named(11, 5)], true)
  const count = (ranges: IdRanges) => countSelected(ranges, list, undefined)
  t.strictSame(count(IdRanges.NONE), { plants: 0, isExact: true })
  t.strictSame(count(IdRanges.ALL), { plants: 10, isExact: true })
  t.strictSame(count(IdRanges.NONE.add(3n, 12n)), { plants: 5, isExact: true })
  t.strictSame(count(IdRanges.NONE.add(5n, 5n)), { plants: 1, isExact: true })
  t.strictSame(count(IdRanges.NONE.add(6n, 6n)), { plants: 0, isExact: true }, 'it was deleted')
  t.strictSame(count(IdRanges.NONE.add(6n, 10n)), { plants: 0, isExact: true })
  t.strictSame(count(IdRanges.ALL.remove(3n, 3n)), { plants: 9, isExact: true })
})

t.test('a row whose plant is gone does not count', async (t) => {
  const list = new PlantList({})
  list.append(named(1, 5), true)
  const count = (ranges: IdRanges) => countSelected(ranges, list, undefined, [2n, 4n])
  t.strictSame(count(IdRanges.ALL), { plants: 3, isExact: true })
  t.strictSame(count(IdRanges.NONE.add(3n, 4n)), { plants: 1, isExact: true })
  t.strictSame(count(IdRanges.NONE.add(2n, 2n)), { plants: 0, isExact: true })
})

t.test('a plant that is not in memory counts as one', async (t) => {
  const some = IdRanges.NONE.add(5n, 5n).add(5001n, 5001n).add(20_000n, 20_000n)
  t.strictSame(countSelected(some, longList({ isComplete: false }), undefined), {
    plants: 3,
    isExact: true,
  })
  const early = IdRanges.NONE.add(-5n, -5n)
  t.strictSame(countSelected(early, longList({ first: 201 }), undefined), {
    plants: 1,
    isExact: true,
  })
})

t.test('ranges are counted exactly while their ends are in memory', async (t) => {
  const some = IdRanges.NONE.add(50n, 8050n)
  const count = (list: PlantList) => countSelected(some, list, undefined)
  t.strictSame(count(longList({ kept: [50n, 8050n] })), { plants: 8001, isExact: true })
  // The ranges of the list have 200 plants each.
  t.strictSame(count(longList({ kept: [50n] })), { plants: 7951, isExact: false })
  t.strictSame(count(longList({ kept: [8050n] })), { plants: 7850, isExact: false })
  t.strictSame(count(longList()), { plants: 7800, isExact: false })
  const list = longList({ kept: [50n, 8050n] })
  list.apply({ id: 2000n })
  t.strictSame(count(list), { plants: 8001, isExact: false }, 'somebody has deleted a plant')
})

t.test('beyond a list, ranges are counted at least', async (t) => {
  const list = longList({ isComplete: false, first: 4801 })
  t.strictSame(countSelected(IdRanges.NONE.add(4901n, 20_000n), list, undefined), {
    plants: 5100,
    isExact: false,
  })
  t.strictSame(countSelected(IdRanges.NONE.add(1n, 4900n), list, undefined), {
    plants: 100,
    isExact: false,
  })
  const empty = new PlantList({})
  t.equal(countSelected(IdRanges.NONE.add(1n, 9n), empty, undefined), undefined)
  t.equal(countSelected(IdRanges.ALL, empty, undefined), undefined)
})

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
