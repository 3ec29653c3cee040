import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { limitToDescriptors, readLimit } from '../../../src/http/server/descriptors.ts'
import { logged } from '../../helpers/client.ts'
import { Command } from '../../helpers/command.ts'

t.test('connections leave descriptors for everything else', async (t) => {
  const limit = (max: number, files?: number) => {
    const warnings: string[] = []
    return [limitToDescriptors(max, (message) => warnings.push(message), files), warnings.length]
  }
  t.same(limit(2048, 2304), [2048, 0])
  t.same(limit(2048, 2303), [2047, 1])
  t.same(limit(2048, 100), [50, 1])
  t.same(limit(2048, Number.POSITIVE_INFINITY), [2048, 0])
  t.same(limit(1), [1, 0], 'the limit of this process')
})

t.test('an unknown limit is no limit', async (t) => {
  const folder = t.testdir({
    limits: 'Max open files            unlimited            unlimited  files',
  })
  t.equal(readLimit(join(folder, 'limits')), Number.POSITIVE_INFINITY)
  t.equal(readLimit(join(folder, 'nothing')), Number.POSITIVE_INFINITY)
})

const skip = spawnSync('prlimit', ['--version']).status !== 0 && 'needs prlimit of util-linux'

t.test('a service at the limit of open files stays observable', { skip }, async (t) => {
  const args = ['--port=0', '--admin-port=0', '--ready-json', '--database=:memory:']
  const command = new Command(t, args, { measured: true })
  const limitFiles = (soft: number, hard = '') =>
    execFileSync('prlimit', ['--pid', `${command.process.pid}`, `--nofile=${soft}:${hard}`])
  limitFiles(200, '200')
  const [line] = await command.says(/.*\n/)
  await logged(command, 'with 200 open files at most, the service accepts 100 connections')

  const port = Number(new URL(JSON.parse(line).url).port)
  const sockets = Array.from({ length: 150 }, () => connect(port, '127.0.0.1'))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  const refused = Promise.withResolvers<void>()
  let open = sockets.length
  for (const socket of sockets) {
    socket.once('close', () => {
      if (--open === 100) refused.resolve()
    })
  }
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  await refused.promise
  await logged(command, 'new connections are closed, because 100 are open')
  const [, adminUrl] = /health checks at (http\S+?)"/.exec(command.stderr) ?? []
  const page = await (await fetch(`${adminUrl}/metrics`)).text()
  t.match(page, /^plant_store_dropped_connections_total\{reason="max-connections"\} 50$/m)

  // Fewer than are open.
  limitFiles(20)
  await logged(command, 'no file can be opened (EMFILE), and new connections are closed')
  limitFiles(200)
  command.process.kill('SIGTERM')
  for (const socket of sockets) socket.destroy()
  t.equal((await command.finished()).code, 0)
})
