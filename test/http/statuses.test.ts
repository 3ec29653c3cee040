/** Every status that the contract documents for an operation happens, and has the documented form. */
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../service/plant-store.ts'
import type { operations } from '../../src/contract/api.gen.ts'
import type { OperationId } from '../../src/contract/operations.ts'
import { type Answer, documentedStatuses } from '../helpers/contract-check.ts'
import { type Service, type StartOptions, sendRaw, startService } from '../helpers/service.ts'

type Produce = (t: Test) => Promise<Answer | undefined>

let service: Service
t.before(async () => {
  service = await startService(t)
})

const body = { id: 1n, name: 'Abies alba Mill.' }

/** A status that is missing here, or is here and not in the contract, does not compile. */
const PRODUCE: {
  [Id in OperationId]: { [Status in keyof operations[Id]['responses']]: Produce }
} = {
  createPlant: {
    200: () => service.call({ body }),
    400: () => service.call({ body: {} }),
    401: () => service.call({ body, token: 'wrong' }),
    403: async () => service.call({ body, token: await service.issueToken('reader', ['read']) }),
    408: async (t) => {
      const service = await startService(t, { config: { requestTimeout: 100 } })
      const head = 'POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
      const rest = `Authorization: Bearer ${service.token}\r\nContent-Length: 9\r\n\r\n{`
      return (await sendRaw(service.port, head + rest, false))[0]
    },
    409: async () => {
      await service.call({ body: { id: 2n, name: 'Abies' } })
      return service.call({ body: { id: 2n, name: 'Acer' } })
    },
    413: async (t) => {
      const service = await startService(t, { config: { bodyLimit: 10 } })
      return service.call({ body })
    },
    415: () => service.call({ body, headers: { 'content-type': 'text/plain' } }),
    431: () => service.call({ body, headers: { 'x-long': 'x'.repeat(20_000) } }),
    500: async (t) => (await startService(t, failing(new TypeError('a bug')))).call({ body }),
    503: async (t) => {
      const error = new StoreUnavailable('busy', 'SQLITE_BUSY')
      return (await startService(t, failing(error))).call({ body })
    },
  },
}

for (const { operation, status } of documentedStatuses()) {
  t.test(`${operation} answers ${status}`, async (t) => {
    const produce: Record<number, Produce> = PRODUCE[operation as OperationId]
    const answer = await produce[status]?.(t)
    t.equal(answer?.status, status)
  })
}

t.test('a defect is told to the log and not to the caller', async (t) => {
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  const error = new TypeError('secret detail at /secret/path')
  const service = await startService(t, { ...failing(error), logger: { stream } })
  const answer = await service.call({ body })
  t.strictSame(answer.json, { error: 50001, message: 'the service failed; its log says more' })
  t.match(lines.join(''), /secret detail/)
})

t.test('503 says when to come back, and not why', async (t) => {
  for (const [reason, error, seconds] of [
    ['busy', 50301, '1'],
    ['failing', 50302, '5'],
  ] as const) {
    const service = await startService(t, failing(new StoreUnavailable(reason, 'SQLITE_SECRET')))
    const answer = await service.call({ body })
    t.match(answer, { status: 503, headers: { 'retry-after': seconds }, json: { error } })
    t.notMatch(answer.body, /SQLITE/)
  }
})

/** A service whose store takes no plant. */
function failing(error: Error): StartOptions {
  return { instead: { create: () => Promise.reject(error) } }
}
