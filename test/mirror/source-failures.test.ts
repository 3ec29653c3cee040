import t from 'tap'
import { ConnectionError, UnexpectedResponseError } from '../../client/errors.ts'
import { explainFailure, MirrorError, SourceUnavailable } from '../../src/mirror/source-failures.ts'

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

t.test('a mirror waits for a source that is busy, and stops at other errors', async (t) => {
  for (const [status, isTemporary] of [
    [408, true],
    [429, true],
    [500, true],
    [404, false],
    [499, false],
  ] as const) {
    const error = explainFailure(new UnexpectedResponseError('answer', status))
    t.ok(error instanceof (isTemporary ? SourceUnavailable : MirrorError), `${status}`)
  }
})
