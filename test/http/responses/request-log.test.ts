/** Log lines about requests. */
import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import type { Config } from '../../../src/config/config.ts'
import { onChange } from '../../helpers/plants/single-changes.ts'
import { type StartOptions, startService } from '../../helpers/service/service.ts'

interface Line {
  readonly level: number
  readonly msg: string
  readonly [name: string]: unknown
}

/** A service and its log lines about requests. */
async function startLoggingService(t: Test, config: Partial<Config>, options: StartOptions = {}) {
  const lines: Line[] = []
  const waiting: (() => void)[] = []
  const write = (line: string) => {
    lines.push(JSON.parse(line))
    for (const wake of waiting.splice(0)) wake()
  }
  const logger = { level: 'trace', stream: { write } }
  const service = await startService(t, { ...options, config, logger })
  const aboutRequests = () => lines.filter(({ requestId }) => requestId !== undefined)
  /** Resolves to the first line with a given message. */
  const logged = async (msg: string): Promise<Line> => {
    for (;;) {
      const line = lines.find((each) => each.msg === msg)
      if (line !== undefined) return line
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
  return { service, aboutRequests, logged }
}

const WARN = 40

t.test('a line about a request contains its sender and address', async (t) => {
  const { service, logged } = await startLoggingService(t, {
    logRequests: 'all',
    trustProxy: '127.0.0.1',
  })
  const token = await service.issueToken('ci', ['read', 'write'])
  const { headers } = await service.call({
    method: 'DELETE',
    path: '/plants/4',
    token,
    headers: {
      'x-forwarded-for': '192.0.2.7',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
  })
  t.match(await logged('response sent'), {
    requestId: headers['x-request-id'],
    traceId: '0af7651916cd43dd8448eb211c80319c',
    method: 'DELETE',
    path: '/plants/4',
    status: 404,
    token: 'ci',
    address: '192.0.2.7',
    milliseconds: Number,
  })
})

t.test('without a trusted proxy and a valid traceparent, their headers are ignored', async (t) => {
  const { service, aboutRequests } = await startLoggingService(t, { logRequests: 'all' })
  for (const traceparent of [
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    '',
    'x',
    '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01',
  ]) {
    await service.call({ method: 'GET', headers: { traceparent, 'x-forwarded-for': '192.0.2.7' } })
  }
  await service.close()
  t.equal(aboutRequests().length, 5)
  for (const line of aboutRequests()) {
    t.match(line, { msg: 'response sent', address: '127.0.0.1' })
    t.notOk('traceId' in line)
  }
})

t.test('logging can be limited to changes, including failed ones', async (t) => {
  const { service, aboutRequests } = await startLoggingService(t, { logRequests: 'changes' })
  await service.call({ method: 'GET' })
  await service.call({ method: 'HEAD' })
  await service.call({ method: 'OPTIONS' })
  await service.call({ body: { id: 4n, name: 'Abies alba Mill.' } })
  await service.call({ method: 'PUT', path: '/plants/5', body: { name: 'Acer' } })
  await service.call({ method: 'DELETE', path: '/plants/4', token: null })
  await service.close()
  const answered = aboutRequests().filter(({ msg }) => msg === 'response sent')
  t.match(answered, [
    { method: 'POST', status: 200, token: 'test' },
    { method: 'PUT', status: 404, token: 'test' },
    { method: 'DELETE', status: 401 },
  ])
})

t.test('a change is logged even if its client has disconnected', async (t) => {
  const gate = Promise.withResolvers<'plant-not-found'>()
  const begun = Promise.withResolvers<void>()
  const { service, logged } = await startLoggingService(
    t,
    { logRequests: 'changes' },
    {
      instead: {
        change: onChange('remove', () => {
          begun.resolve()
          return gate.promise
        }),
      },
    },
  )
  const socket = connect(service.port, '127.0.0.1').on('error', () => {})
  socket.write(
    `DELETE /plants/4 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\n\r\n`,
  )
  const [connection] = await once(service.app.server, 'connection')
  await begun.promise
  const closed = new Promise((resolve) => connection.on('close', resolve))
  socket.resetAndDestroy()
  await closed
  gate.resolve('plant-not-found')
  t.match(await logged('client disconnected before the response was sent'), {
    method: 'DELETE',
    path: '/plants/4',
    token: 'test',
  })
})

t.test('every line about a request has its id, whether or not requests are logged', async (t) => {
  const trouble = new StoreUnavailable('busy', 'SQLITE_BUSY')
  for (const logRequests of ['off', 'all'] as const) {
    const { service, aboutRequests } = await startLoggingService(
      t,
      { logRequests },
      { instead: { get: () => Promise.reject(trouble) } },
    )
    const failed = await service.call({ method: 'GET', path: '/plants/4' })
    const rejected = await service.call({ method: 'GET', token: 'a-wrong-token' })
    const warnings = aboutRequests().filter(({ level }) => level === WARN)
    t.match(warnings, [
      { requestId: failed.headers['x-request-id'], msg: /the store is busy/ },
      {
        requestId: rejected.headers['x-request-id'],
        msg: 'rejected an access token',
        address: '127.0.0.1',
        method: 'GET',
        path: '/plants',
      },
    ])
  }
})

for (const [what, summary, call] of [
  ['rejected tokens', 'rejected more access tokens', { method: 'GET', token: 'a-wrong-token' }],
  [
    'requests that the store rejects',
    'rejected more requests because the store is unavailable',
    { path: '/plants/batch', body: [{ id: 4, name: 'Abies' }] },
  ],
] as const) {
  t.test(`only a few of many ${what} are logged, with a count of the rest`, async (t) => {
    const apply = () => Promise.reject(new StoreUnavailable('busy', 'a batch too many'))
    const { service, aboutRequests, logged } = await startLoggingService(
      t,
      {},
      { instead: { apply } },
    )
    await Promise.all(Array.from({ length: 20 }, () => service.call(call)))
    t.ok(Number((await logged(summary)).omitted) > 0)
    t.ok(aboutRequests().length < 20)
    await service.close()
    t.pass('shutdown logs the count of the rest')
  })
}
