import { connect } from 'node:net'
import t from 'tap'
import { answersOf, readAll, startService } from '../helpers/service.ts'

t.test('of requests sent at once only those that are safe are served together', async (t) => {
  const begun: string[] = []
  const second = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<undefined>()
  const service = await startService(t, {
    instead: {
      get: (id) => {
        begun.push(`GET ${id}`)
        if (begun.length === 2) second.resolve()
        return gate.promise
      },
      remove: async (id) => {
        begun.push(`DELETE ${id}`)
        return 'not-found'
      },
    },
  })
  const head = (line: string, more = '') =>
    `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\n${more}\r\n`
  const socket = connect(service.port, '127.0.0.1')
  const bytes = readAll(socket)
  socket.write(
    [
      head('GET /plants/1'),
      head('GET /plants/2'),
      head('DELETE /plants/3'),
      head('GET /plants/4', 'Connection: close\r\n'),
    ].join(''),
  )
  await second.promise
  // What is not held back has begun when requests that came later are answered.
  for (const _ of 'ab') await service.call({ method: 'DELETE', path: '/plants/5' })
  const together = ['GET 1', 'GET 2', 'DELETE 5', 'DELETE 5']
  t.same(begun, together, 'RFC 9112 §9.3.2')
  gate.resolve(undefined)
  t.same(
    answersOf(await bytes).map(({ status }) => status),
    [404, 404, 404, 404],
  )
  t.same(begun, [...together, 'DELETE 3', 'GET 4'])
})
