import t from 'tap'
import { keysOf, known } from '../../core/known.ts'

t.test('a missing value is reported', async (t) => {
  t.equal(known(0), 0)
  for (const missing of [undefined, null]) t.throws(() => known(missing), /missing/)
})

t.test('the keys of an object', async (t) => {
  t.same(keysOf({ a: 1, b: 2 }), ['a', 'b'])
})
