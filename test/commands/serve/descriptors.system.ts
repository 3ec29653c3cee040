import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { Command } from '../../helpers/processes/command.ts'
import { readAll } from '../../helpers/service/service.ts'

const CONNECTIONS = 50
const BUNDLE = '/documentation/static/swagger-ui-bundle.js'

const skip = existsSync('/proc/self/fd') ? false : 'only Linux has /proc/self/fd'

function get(path: string, ...headers: string[]): string {
  return [`GET ${path} HTTP/1.1`, 'Host: x', 'Accept-Encoding: gzip', ...headers, '\r\n'].join(
    '\r\n',
  )
}

const LAST = get(BUNDLE, 'Connection: close')

t.test('requests for the docs use no file descriptors', { skip }, async (t) => {
  const service = new Command(t, ['--database', ':memory:', '--port', '0', '--log-level', 'silent'])
  const { hostname, port } = new URL(await service.listening())
  const descriptors = () => readdirSync(`/proc/${service.process.pid}/fd`).length
  const connection = () => connected(t, Number(port), hostname)

  const first = connection()
  first.write(LAST)
  t.equal(successes(await readAll(first)), 1)

  const sockets = Array.from({ length: CONNECTIONS }, connection)
  for (const socket of sockets) {
    socket.write(get('/health/live'))
    await once(socket, 'data')
  }
  const before = descriptors()
  let most = before
  const received = sockets.map(async (socket) => {
    socket.on('data', () => {
      most = Math.max(most, descriptors())
    })
    socket.write(LAST)
    return successes(await readAll(socket))
  })
  for (const count of await Promise.all(received)) t.equal(count, 1)
  t.equal(most, before)
})

function connected(t: Test, port: number, host: string) {
  const socket = connect(port, host)
  t.teardown(() => socket.destroy())
  return socket
}

function successes(answers: Buffer): number {
  return answers.toString('latin1').split('HTTP/1.1 200 ').length - 1
}
