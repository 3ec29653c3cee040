import t from 'tap'
import { ByteBudget } from '../../src/http/byte-budget.ts'

t.test('a budget can be used up exactly, and not beyond', async (t) => {
  const budget = new ByteBudget(10)
  t.equal(budget.take(6), true)
  t.equal(budget.take(5), false)
  t.equal(budget.take(4), true)
  t.equal(budget.take(1), false)
  budget.release(4)
  t.equal(budget.take(5), false, 'rejected bytes were not taken')
  t.equal(budget.take(4), true)
})

t.test('an unused budget admits any number of bytes', async (t) => {
  const budget = new ByteBudget(10)
  t.equal(budget.take(11), true)
  t.equal(budget.take(1), false)
  budget.release(11)
  t.equal(budget.take(11), true)
})
