/** Sets of ids that are too many to list. */
import fc from 'fast-check'
import t from 'tap'
import { INT64_MAX, INT64_MIN } from '../../../core/json/int64.ts'
import { IdRanges } from '../../../page/selection/id-ranges.ts'

const ID_MAX = 12

const ranges = fc
  .tuple(fc.integer({ min: 0, max: ID_MAX }), fc.integer({ min: 0, max: ID_MAX }))
  .map(([a, b]) => ({ from: BigInt(Math.min(a, b)), to: BigInt(Math.max(a, b)) }))

const steps = fc.array(fc.record({ kind: fc.constantFrom('add', 'remove'), range: ranges }))

t.test('ranges contain the ids of a set after the same steps, sorted and apart', async () => {
  fc.assert(
    fc.property(steps, (steps) => {
      const ids = new Set<bigint>()
      let actual = IdRanges.NONE
      for (const { kind, range } of steps) {
        const { from, to } = range
        actual = actual[kind](from, to)
        for (let id = from; id <= to; id++) {
          if (kind === 'add') ids.add(id)
          else ids.delete(id)
        }
      }
      for (let id = 0n; id <= ID_MAX; id++) {
        if (actual.has(id) !== ids.has(id)) return false
        if (actual.complement.has(id) === ids.has(id)) return false
      }
      const all = [...actual]
      const isSorted = all.every(({ from, to }, index) => {
        const before = all[index - 1]
        return from <= to && (before === undefined || from > before.to + 1n)
      })
      return isSorted && actual.isEmpty === (ids.size === 0)
    }),
  )
})

t.test('a step returns another set', async (t) => {
  const before = IdRanges.NONE.add(1n, 3n)
  t.strictSame([...before.remove(2n, 2n)].length, 2)
  t.strictSame([...before.add(9n, 9n)].length, 2)
  t.strictSame([...before], [{ from: 1n, to: 3n }])
  t.strictSame([...IdRanges.NONE.add(4n, 5n).add(1n, 2n).add(3n, 3n)], [{ from: 1n, to: 5n }])
})

t.test('all ids are one range, whose first and last can be removed', async (t) => {
  t.ok(IdRanges.ALL.isAll)
  t.notOk(IdRanges.NONE.isAll)
  const others = IdRanges.ALL.remove(INT64_MIN, INT64_MIN).remove(INT64_MAX, INT64_MAX)
  t.strictSame([...others], [{ from: INT64_MIN + 1n, to: INT64_MAX - 1n }])
  t.notOk(others.isAll)
  t.notOk(IdRanges.NONE.add(INT64_MIN, 0n).isAll)
  t.ok(others.add(INT64_MIN, INT64_MIN).add(INT64_MAX, INT64_MAX).isAll)
  t.ok(IdRanges.ALL.complement.isEmpty)
  t.ok(IdRanges.NONE.complement.isAll)
})
