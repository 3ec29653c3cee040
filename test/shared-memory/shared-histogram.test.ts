import t from 'tap'
import { SharedHistogram } from '../../src/shared-memory/shared-histogram.ts'

const BOUNDS = [1, 10]

t.test('a value belongs to the first bucket whose bound it does not exceed', async (t) => {
  const histogram = new SharedHistogram(BOUNDS)
  for (const value of [0, 1, 1.5, 10, 10.5, 1000]) histogram.add(value)
  t.strictSame(histogram.read(), { bounds: BOUNDS, counts: [2, 2, 2], sum: 1023 })
})

t.test('histograms with the same memory and index share their values', async (t) => {
  const memory = SharedHistogram.allocate(BOUNDS, 3)
  const [first, last] = [0, 2].map((index) => new SharedHistogram(BOUNDS, memory, index))
  first?.add(5)
  last?.add(7)
  t.match(new SharedHistogram(BOUNDS, memory, 0).read(), { sum: 5 })
  t.match(new SharedHistogram(BOUNDS, memory, 1).read(), { sum: 0 })
  t.match(new SharedHistogram(BOUNDS, memory, 2).read(), { sum: 7 })
})

t.test('readAll returns the histograms that have counted anything, even zeros', async (t) => {
  const memory = SharedHistogram.allocate(BOUNDS, 4)
  new SharedHistogram(BOUNDS, memory, 1).add(0)
  new SharedHistogram(BOUNDS, memory, 3).add(11)
  t.strictSame(
    [...SharedHistogram.readAll(BOUNDS, memory)],
    [
      [1, { bounds: BOUNDS, counts: [1, 0, 0], sum: 0 }],
      [3, { bounds: BOUNDS, counts: [0, 0, 1], sum: 11 }],
    ],
  )
})
