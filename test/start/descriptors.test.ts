import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { devNull } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ConfigError } from '../../src/config/config.ts'
import { connectionsPossible, readFiles } from '../../src/start/descriptors.ts'
import { Command } from '../helpers/processes/command.ts'
import { logged } from '../helpers/service/client.ts'

t.test('connections leave descriptors for everything else', async (t) => {
  const limit = (max: number, threads: number, files: number) => {
    const warnings: string[] = []
    const warn = (message: string) => warnings.push(message)
    return [connectionsPossible(max, threads, warn, { files, open: 80 }), ...warnings]
  }
  t.same(limit(2048, 1, 2288), [2048])
  t.match(limit(2048, 1, 2287), [
    2047,
    /^with 2287 open files at most, the service accepts 2047 connections: raise the limit /,
  ])
  t.match(limit(2048, 4, 244), [4, /accepts 4 connections/])
  t.throws(() => limit(2048, 4, 243), {
    constructor: ConfigError,
    message: 'with 243 open files at most, the service cannot accept connections: it needs 244',
  })
  t.same(limit(2048, 1, Number.POSITIVE_INFINITY), [Number.POSITIVE_INFINITY])
})

t.test('the descriptors of a process are counted', async (t) => {
  const before = readFiles()
  const file = openSync(devNull, 'r')
  t.same(readFiles(), { ...before, open: before.open + 1 })
  closeSync(file)
})

t.test('an unknown limit is no limit', async (t) => {
  const folder = t.testdir({
    limits: 'Max open files            unlimited            unlimited  files',
    fd: { 0: '' },
  })
  const files = Number.POSITIVE_INFINITY
  t.same(readFiles(folder), { files, open: 1 })
  t.same(readFiles(join(folder, 'nothing')), { files, open: 0 })
})

/** Whether the service responds on a connection, rather than closing it. */
async function isServed(socket: Socket): Promise<boolean> {
  socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const served = Promise.withResolvers<boolean>()
  socket.once('data', () => served.resolve(true))
  socket.once('close', () => served.resolve(false))
  socket.once('error', () => served.resolve(false))
  return served.promise
}

const skip = spawnSync('prlimit', ['--version']).status !== 0 && 'needs prlimit of util-linux'

t.test('a service at the limit of open files stays observable', { skip }, async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const args = ['--port=0', '--admin-port=0', '--ready-json', `--database=${database}`]
  const command = new Command(t, [...args, '--threads=1'])
  const limitFiles = (soft: number, hard = '') =>
    execFileSync('prlimit', ['--pid', `${command.process.pid}`, `--nofile=${soft}:${hard}`])
  limitFiles(300, '300')
  const [line] = await command.says(/.*\n/)
  await logged(command, 'with 300 open files at most')
  const possible = Number(/the service accepts (\d+) connections/.exec(command.stderr)?.[1])

  const port = Number(new URL(JSON.parse(line).url).port)
  const sockets = Array.from({ length: 400 }, () => connect(port, '127.0.0.1'))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  const accepted = await Promise.all(sockets.map(isServed))
  const open = accepted.filter(Boolean).length
  t.equal(open, possible)
  await logged(command, 'new connections are closed, because')
  const [, adminUrl] = /health checks at (http\S+?)"/.exec(command.stderr) ?? []
  const page = await (await fetch(`${adminUrl}/metrics`)).text()
  const dropped = page.matchAll(/_dropped_connections_total\{.*"max-connections".*\} (\d+)$/gm)
  t.equal(
    [...dropped].reduce((sum, [, count]) => sum + Number(count), 0),
    400 - open,
  )
  t.notMatch(command.stderr, /no file can be opened/)

  // Fewer than are open.
  limitFiles(20)
  await logged(command, 'no file can be opened (EMFILE), and new connections are closed')
  limitFiles(300)
  command.process.kill('SIGTERM')
  for (const socket of sockets) socket.destroy()
  t.equal((await command.finished()).code, 0)
})
