/** Every error that the contract documents for an operation can be caused, and is the documented one. */
import t from 'tap'
import { loadContract } from '../../core/contract/contract.ts'
import { type ErrorCode, errorCodes } from '../../core/generated/error-codes.gen.ts'
import { keysOf, known } from '../../core/known.ts'
import { documentedErrors } from '../../src/faults/documented-errors.ts'
import { operations } from '../helpers/service/contract-check.ts'
import { CALLS, startFaulty } from './faulty-service.ts'

/** The service closes the connection after these. */
const LAST: readonly ErrorCode[] = [
  'request-timeout',
  'headers-too-large',
  'unsupported-http-version',
]

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

const documented = documentedErrors(loadContract())

t.test('each operation has the errors of the contract', async (t) => {
  t.same([...documented.keys()].toSorted(), keysOf(CALLS).toSorted())
  for (const operation of keysOf(CALLS)) {
    t.ok(known(documented.get(operation)).size > 10)
    t.strictSame(documented.get(operation), examplesOf(operation), operation)
  }
})

t.test('each error can be caused', async (t) => {
  const { service, injection } = await startFaulty(t)
  for (const [index, error] of keysOf(errorCodes).entries()) {
    const causes = keysOf(CALLS).filter((operation) => documented.get(operation)?.has(error))
    // Errors of paths that do not exist are no operation's.
    const operation = causes[index % causes.length]
    if (operation === undefined) continue
    const { status, error: number } = errorCodes[error]
    injection.setFaults([{ operation, error }])
    const headers = { connection: 'keep-alive' }
    const answer = await service.call({ ...CALLS[operation], headers })
    const what = `${error} of ${operation}`
    t.equal(answer.status, status, what)
    // Its example names the scope of another operation.
    if (error === 'insufficient-scope') t.match(answer.json, { error: number })
    else {
      const message = documented.get(operation)?.get(error)
      t.strictSame(answer.json, { error: number, message }, what)
    }
    t.equal(answer.headers.connection, LAST.includes(error) ? 'close' : 'keep-alive', what)
  }
})
