import t from 'tap'
import { SharedCounter } from '../../src/shared-memory/shared-counter.ts'

t.test('counters with the same memory have the same value', async (t) => {
  const one = new SharedCounter()
  const other = new SharedCounter(one.memory)
  t.equal(one.add(5), 0)
  t.equal(other.add(-2), 5)
  t.equal(one.value, 3)
  t.equal(other.reset(), 3)
  t.equal(one.value, 0)
})

t.test('addIf adds only what the current value permits', async (t) => {
  const counter = new SharedCounter()
  const other = new SharedCounter(counter.memory)
  let isFirst = true
  const permits = (value: number) => {
    // Another thread is faster.
    if (isFirst) other.add(2)
    isFirst = false
    return value < 3
  }
  t.equal(counter.addIf(permits, 1), true)
  t.equal(counter.value, 3)
  t.equal(counter.addIf(permits, 1), false)
  t.equal(counter.value, 3)
})
