import t from 'tap'
import {
  duration,
  integer,
  logRequests,
  networks,
  nonEmptyString,
  onOff,
  rate,
  replaceInvalid,
  seed,
} from '../../src/config/setting-values.ts'

const readers = {
  duration: duration('1d'),
  integer: integer(1, 10),
  logRequests,
  networks,
  nonEmptyString,
  onOff,
  rate,
  seed,
}

for (const [name, read] of Object.entries(readers)) {
  t.test(`${name} rejects values of any other type`, async (t) => {
    for (const value of [undefined, null, Symbol(), {}, Object.create(null), () => {}, 1n]) {
      t.throws(() => read(value), { message: /^expected / })
    }
  })
}

t.test('an invalid value is reported with another error', async (t) => {
  const replaced = new Error('replaced')
  t.throws(
    () =>
      replaceInvalid(
        () => nonEmptyString(''),
        () => replaced,
      ),
    replaced,
  )
})

t.test('other errors of a reader are passed on', async (t) => {
  const defect = new TypeError('a defect')
  const read = () => {
    throw defect
  }
  t.throws(() => replaceInvalid(read, () => new Error('replaced')), defect)
})
