import t from 'tap'
import { RetentionClock } from '../../src/stores/shared/retention-clock.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NEVER = Number.MAX_SAFE_INTEGER

/** A clock for changes that are kept for a week, on a machine whose wall clock can be set. */
function setUp(age = 7 * DAY) {
  const problems: string[] = []
  let [wall, monotonic] = [1_790_000_000_000, 5000]
  const clock = new RetentionClock(age, (problem) => problems.push(problem), {
    monotonic: () => monotonic,
  })
  const look = () => clock.grace(wall)
  const pass = (ms: number) => {
    wall += ms
    monotonic += ms
    return look()
  }
  const set = (ms: number) => {
    wall += ms
    return look()
  }
  return { pass, set, look, problems }
}

t.test('a process deletes nothing by age until it has watched the clock', async (t) => {
  const { look, pass } = setUp()
  t.equal(look(), NEVER)
  t.equal(pass(10 * MINUTE - 1), NEVER)
  t.equal(pass(1), 0)
})

t.test('changes that are kept for less are deleted sooner', async (t) => {
  const { pass } = setUp(1000)
  t.equal(pass(999), NEVER)
  t.equal(pass(1), 0)
})

t.test('a clock that is set forward makes no change too old', async (t) => {
  const { pass, set, problems } = setUp()
  t.equal(pass(HOUR), 0)
  t.equal(set(30 * DAY), 30 * DAY)
  t.equal(pass(7 * DAY - 1), 30 * DAY)
  t.equal(pass(1), 0, 'the changes made before are too old by any clock')
  t.equal(problems.length, 1)
  t.match(problems[0], /^the clock went forward by 43200 min: if it was set by mistake, correct it/)
})

t.test('a correction ends the grace', async (t) => {
  const { pass, set, problems } = setUp()
  pass(HOUR)
  set(30 * DAY)
  t.equal(set(-30 * DAY), 0)
  t.match(problems[1], /^the clock went back by 43200 min/)
})

t.test('a change that was made while the clock was behind does not become too old', async (t) => {
  const { pass, set } = setUp()
  pass(HOUR)
  t.equal(set(-30 * DAY), 0)
  pass(HOUR)
  t.equal(set(30 * DAY), 30 * DAY)
})

t.test(
  'a machine that sleeps every night keeps changes for longer, but not for ever',
  async (t) => {
    const { pass, set } = setUp()
    const graces = Array.from({ length: 60 }, () => {
      pass(16 * HOUR)
      return set(8 * HOUR)
    })
    t.equal(Math.max(...graces), 11 * 8 * HOUR)
  },
)

t.test('a clock that drifts is not reported', async (t) => {
  const { pass, set, problems } = setUp()
  pass(HOUR)
  t.equal(set(MINUTE), 0)
  t.equal(set(-MINUTE), 0)
  t.same(problems, [])
})

t.test('nobody needs to receive the steps', async (t) => {
  const clock = new RetentionClock(0)
  clock.grace(0)
  t.equal(clock.grace(HOUR), 0)
})
