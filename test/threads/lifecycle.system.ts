/** One process with four HTTP threads greets, logs and stops like a process with one. */
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { issue, writeFiles } from '../helpers/network/certificates.ts'
import { isFree } from '../helpers/network/connection.ts'
import { connectTls } from '../helpers/network/tls-client.ts'
import { Command } from '../helpers/processes/command.ts'
import { logged } from '../helpers/service/client.ts'
import { answersOf, readAll } from '../helpers/service/service.ts'
import { ask, formatRequest, openLines, THREADS } from '../helpers/service/threads.ts'

const TOKEN = 'a-token-of-the-environment'

/** The addresses of localhost. */
const HOSTS = ['127.0.0.1', ...((await isFree('::1')) ? ['::1'] : [])]

function start(t: Test, database: string, ...args: string[]): Command {
  const all = ['--threads', `${THREADS}`, '--port=0', '--database', database, ...args]
  return new Command(t, all, { env: { PLANT_STORE_TOKEN: TOKEN } })
}

/** The messages that a service has logged. */
function messagesOf({ stderr }: Command): string[] {
  const lines = stderr.trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line).msg)
}

/** Sends the head and half of the body of a create, and returns the rest. */
async function sendHalf(socket: Socket, id: number): Promise<string> {
  const request = formatRequest(TOKEN, 'POST /plants', `{"id":${id},"name":"half sent"}`)
  const [head = '', body = ''] = request.split('\r\n\r\n')
  // The interim response shows that the thread waits for the body.
  socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n`)
  await once(socket, 'data')
  socket.write(body.slice(0, 10))
  return body.slice(10)
}

/** Resolves once a port refuses connections at an address. */
async function refusesConnections(port: number, host: string): Promise<void> {
  for (let isRefused = false; !isRefused; ) {
    const socket = connect(port, host)
    isRefused = await once(socket, 'connect').then(
      () => false,
      ({ code }) => code === 'ECONNREFUSED',
    )
    socket.destroy()
  }
}

t.test('on localhost', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const service = start(t, database, '--host', 'localhost', '--shutdown-timeout', '10m')
  const port = Number(new URL(await service.listening()).port)
  const targets = HOSTS.map((host) => ({ host, port }))
  const lines = (await Promise.all(targets.map((target) => openLines(t, target)))).flat()

  t.test('every thread listens on both addresses', async (t) => {
    t.equal(new Set(lines.map(({ thread }) => thread)).size, THREADS)
  })

  t.test('the threads have names', { skip: process.platform !== 'linux' }, async (t) => {
    const tasks = `/proc/${service.process.pid}/task`
    const names = readdirSync(tasks).map((id) => readFileSync(`${tasks}/${id}/comm`, 'utf8').trim())
    const ours = names.filter((name) => name.startsWith('plant-')).sort()
    t.same(ours, [1, 2, 3, 4].map((number) => `plant-http-${number}`).concat('plant-writer'))
  })

  t.test('SIGTERM finishes the requests in flight in all threads', async (t) => {
    const requests = await Promise.all(
      lines.map(async ({ socket }, id) => {
        const rest = await sendHalf(socket, id)
        return { socket, rest, answers: readAll(socket).then(answersOf) }
      }),
    )
    service.process.kill('SIGTERM')
    for (const host of HOSTS) await refusesConnections(port, host)
    for (const { socket, rest } of requests) socket.write(rest)
    for (const { answers } of requests) {
      t.match(await answers, [{ status: 200, headers: { connection: 'close' } }])
    }
    t.equal((await service.finished()).code, 0)
    t.notOk(existsSync(`${database}-wal`), 'the database is closed')
  })

  t.test('there was one greeting and one log', async (t) => {
    t.equal(service.stdout.match(/Plant Store is listening/g)?.length, 1)
    const messages = messagesOf(service)
    const listening = HOSTS.map(
      (host) => `Server listening at ${new URL(toUrl(host, port)).origin}`,
    )
    t.same(messages, [...listening, 'stopping', 'stopped'])
  })
})

function toUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

t.test('with TLS', async (t) => {
  const folder = t.testdir()
  const authority = issue({ name: 'authority' })
  const named = (name: string) => issue({ name, hosts: ['localhost'], issuer: authority })
  const { tlsCertificate, tlsKey } = writeFiles(folder, named('first'))
  const tls = ['--tls-certificate', tlsCertificate, '--tls-key', tlsKey]
  const database = join(folder, 'plants.db')
  const service = start(t, database, '--ready-json', '--shutdown-timeout=200ms', ...tls)
  const [line] = await service.says(/.*\n/)
  const { url } = JSON.parse(line)
  const port = Number(new URL(url).port)
  const names: unknown[] = []
  const open = async () => {
    const socket = await connectTls(port, authority.cert)
    names.push(socket.getPeerCertificate().subject.CN)
    return socket
  }

  t.test('every thread serves TLS', async (t) => {
    for (const { socket } of await openLines(t, open)) {
      t.equal((await ask(socket, formatRequest(TOKEN, 'GET /plants'))).status, 200)
    }
    t.same(new Set(names), new Set(['first']))
  })

  t.test('every thread resumes the sessions of the others', async (t) => {
    const socket = await open()
    const [session] = (await once(socket.resume(), 'session')) as [Buffer]
    socket.destroy()
    const resume = () => connectTls(port, authority.cert, { session })
    for (const { socket } of await openLines(t, resume)) {
      t.equal((socket as TLSSocket).isSessionReused(), true)
      socket.destroy()
    }
  })

  t.test('every thread reloads the certificate, and one of them logs it', async (t) => {
    writeFiles(folder, named('second'))
    await logged(service, 'TLS certificate reloaded')
    // Each thread checks the files at its own time.
    do {
      names.splice(0)
      for (const { socket } of await openLines(t, open)) socket.destroy()
    } while (names.includes('first'))
    t.same(new Set(names), new Set(['second']))
  })

  t.test('SIGTERM cuts off requests that do not finish in all threads', async (t) => {
    const lines = await openLines(t, open)
    await Promise.all(lines.map(({ socket }, id) => sendHalf(socket, id)))
    const ends = lines.map(({ socket }) => readAll(socket))
    service.process.kill('SIGTERM')
    for (const bytes of await Promise.all(ends)) t.equal(String(bytes), '')
    t.equal((await service.finished()).code, 0)
    t.notOk(existsSync(`${database}-wal`), 'the database is closed')
  })

  t.test('there was one line of JSON and one log', async (t) => {
    t.equal(service.stdout, line)
    const messages = messagesOf(service)
    const expected = [
      `Server listening at https://127.0.0.1:${port}`,
      'TLS certificate reloaded',
      'stopping',
      'stopped',
    ]
    t.same(messages, expected)
  })
})
