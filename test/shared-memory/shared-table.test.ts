import t from 'tap'
import { SharedTable } from '../../src/shared-memory/shared-table.ts'

/** Keys of one set, which the low bits of a key select. */
const keysOfOneSet = (count: number) =>
  Array.from({ length: count }, (_, index) => BigInt(index + 1) << 32n)

t.test('entries can be set, read, changed and deleted', async (t) => {
  const table = new SharedTable()
  const key = table.toKey('a')
  t.equal(table.get(key), undefined)
  table.set(key, 7)
  table.set(table.toKey('b'), -8)
  t.equal(table.get(key), 7)
  t.equal(
    table.update(key, (value = 0) => value + 2 ** 52),
    true,
  )
  t.equal(table.get(key), 2 ** 52 + 7)
  t.equal(
    table.update(key, () => undefined),
    false,
  )
  t.equal(table.get(key), 2 ** 52 + 7)
  table.delete(key)
  table.delete(table.toKey('c'))
  t.equal(table.get(key), undefined)
  t.equal(table.get(table.toKey('b')), -8)
})

t.test('tables with the same memory have the same entries', async (t) => {
  const one = new SharedTable()
  const other = new SharedTable(one.memory)
  one.set(1n, 5)
  t.equal(other.get(1n), 5)
  other.delete(1n)
  t.equal(one.get(1n), undefined)
})

t.test('if a set is full, the entry with the smallest value is forgotten', async (t) => {
  const table = new SharedTable()
  const keys = keysOfOneSet(9)
  for (const [index, key] of keys.slice(0, 8).entries()) table.set(key, 100 - index)
  table.set(keys[0] as bigint, 1)
  table.set(keys[8] as bigint, 0)
  t.same(
    keys.map((key) => table.get(key)),
    [undefined, 99, 98, 97, 96, 95, 94, 93, 0],
  )
  table.set(-1n, 3)
  t.equal(table.get(-1n), 3, 'another set still has room')
})

t.test('a deleted entry makes room', async (t) => {
  const table = new SharedTable()
  const keys = keysOfOneSet(9)
  for (const key of keys.slice(0, 8)) table.set(key, 5)
  table.delete(keys[3] as bigint)
  table.set(keys[8] as bigint, 1)
  t.same(
    keys.map((key) => table.get(key)),
    [5, 5, 5, undefined, 5, 5, 5, 5, 1],
  )
})

t.test('a change made between the read and the write of another is not lost', async (t) => {
  const table = new SharedTable()
  const other = new SharedTable(table.memory)
  let interference = 0
  const add = (value = 0) => {
    if (interference++ < 2) other.update(1n, (value = 0) => value + 10)
    return value + 1
  }
  t.equal(table.update(1n, add), true)
  t.equal(table.get(1n), 21)
})

t.test('thousands of entries fit', async (t) => {
  const table = new SharedTable()
  const keys = Array.from({ length: 5000 }, (_, index) => table.toKey(`${index}`))
  for (const key of keys) table.set(key, 1)
  const kept = keys.filter((key) => table.get(key) === 1).length
  t.ok(kept > 4900, `${kept} of 5000 are kept`)
})

t.test(
  'the keys of strings differ between tables, except if these share their memory',
  async (t) => {
    const table = new SharedTable()
    t.equal(new SharedTable(table.memory).toKey('a'), table.toKey('a'))
    t.not(new SharedTable().toKey('a'), table.toKey('a'))
  },
)
