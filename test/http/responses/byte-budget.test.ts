import t from 'tap'
import { ByteBudget } from '../../../src/http/responses/byte-budget.ts'

const never = () => t.fail('bytes were lost')

/** A budget of 10 bytes, and its clock. */
function setUp() {
  const clock = { now: 0 }
  return { clock, budget: new ByteBudget(10, { monotonic: () => clock.now }) }
}

t.test('a budget can be used up exactly, and not beyond', async (t) => {
  const { budget } = setUp()
  const [one, other] = [budget.share(never), budget.share(never)]
  t.equal(one.take(6), true)
  t.equal(other.take(5), false)
  t.equal(other.take(4), true)
  t.equal(one.take(1), false)
  other.release()
  t.equal(one.take(5), false, 'rejected bytes were not taken')
  t.equal(one.take(4), true)
  t.equal(one.bytes, 10)
})

t.test('an unused budget admits any number of bytes', async (t) => {
  const { budget } = setUp()
  const share = budget.share(never)
  t.equal(share.take(11), true)
  t.equal(share.take(1), false)
  share.release()
  share.release()
  t.equal(budget.share(never).take(11), true)
})

t.test('those that have held bytes for a second lose them if others need them', async (t) => {
  const { clock, budget } = setUp()
  const lost: string[] = []
  const take = (name: string, bytes: number) => budget.share(() => lost.push(name)).take(bytes)
  take('oldest', 3)
  clock.now = 10
  take('old', 3)
  clock.now = 500
  take('young', 4)
  clock.now = 999
  t.equal(take('refused', 1), false)
  clock.now = 1000
  t.equal(take('small', 2), true)
  t.same(lost, ['oldest'])
  clock.now = 1010
  t.equal(take('large', 3), true)
  t.same(lost, ['oldest', 'old'])
})

t.test('nobody loses bytes for a request that does not fit even then', async (t) => {
  const { clock, budget } = setUp()
  budget.share(never).take(3)
  clock.now = 500
  budget.share(never).take(7)
  clock.now = 1000
  t.equal(budget.share(never).take(4), false)
  const lost: string[] = []
  const { budget: other, clock: time } = setUp()
  other.share(() => lost.push('all')).take(10)
  time.now = 1000
  t.equal(other.share(never).take(11), true, 'an emptied budget admits any number of bytes')
  t.same(lost, ['all'])
})

t.test('a share does not take bytes from itself', async (t) => {
  const { clock, budget } = setUp()
  const share = budget.share(never)
  share.take(6)
  clock.now = 5000
  t.equal(share.take(6), false)
  t.equal(share.bytes, 6)
})
