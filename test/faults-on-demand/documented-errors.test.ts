/** Every error that the contract documents for an operation can be caused, and is the documented one. */
import t from 'tap'
import { type ErrorCode, errorCodes } from '../../contract/error-codes.gen.ts'
import { keysOf } from '../../contract/known.ts'
import { operations } from '../helpers/contract-check.ts'
import { CALLS, type FaultyService, startFaulty } from './faulty-service.ts'

/** The service closes the connection after these. */
const LAST: readonly ErrorCode[] = [
  'request-timeout',
  'headers-too-large',
  'unsupported-http-version',
]

let faulty: FaultyService

t.before(async () => {
  faulty = await startFaulty(t)
})

for (const operation of keysOf(CALLS)) {
  t.test(`every error of ${operation}`, async (t) => {
    const { service, injection } = faulty
    const documented = examplesOf(operation)
    t.ok(documented.size > 10)
    for (const [error, message] of documented) {
      injection.setFaults([{ operation, error }])
      const headers = { connection: 'keep-alive' }
      const answer = await service.call({ ...CALLS[operation], headers })
      const { status, error: number } = errorCodes[error]
      t.equal(answer.status, status, error)
      // Its example names the scope of another operation.
      if (error === 'insufficient-scope') t.match(answer.json, { error: number })
      else t.strictSame(answer.json, { error: number, message })
      t.equal(answer.headers.connection, LAST.includes(error) ? 'close' : 'keep-alive', error)
    }
  })
}

/** The messages of the errors in the contract. */
function examplesOf(operation: string): Map<ErrorCode, string> {
  const { responses = {} } = operations().find(({ operationId }) => operationId === operation) ?? {}
  const examples = Object.values(responses).flatMap(({ content }) =>
    Object.entries(content?.['application/json']?.examples ?? {}),
  )
  return new Map(
    examples
      .filter(([name]) => Object.hasOwn(errorCodes, name))
      .map(([name, { value }]) => [name as ErrorCode, (value as { message: string }).message]),
  )
}
