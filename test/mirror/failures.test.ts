import t from 'tap'
import { ConnectionError } from '../../client/errors.ts'
import { explainFailure } from '../../src/mirror/failures.ts'

t.test(
  'a connection that fails for all addresses of a host is explained by its code',
  async (t) => {
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
    const error = new ConnectionError('no response', {
      cause: new TypeError('failed', { cause: refused }),
    })
    t.match(explainFailure(error), { message: 'no response: ECONNREFUSED' })
  },
)

t.test('an error of the program is not explained', async (t) => {
  const error = new TypeError('x is not a function')
  t.equal(explainFailure(error), error)
})
