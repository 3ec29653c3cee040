/** Imports and seeds that a signal interrupts, or whose input or output ends early. */
import { spawnSync } from 'node:child_process'
import { createWriteStream, existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { TRANSACTION_RECORDS } from '../../../src/transfer/import.ts'
import { importsOf } from '../../helpers/plants/imports.ts'
import { Command } from '../../helpers/processes/command.ts'
import { runHere } from '../../helpers/processes/command-here.ts'

/** Preceded by the progress, which is reported every five seconds. */
const INTERRUPTED =
  /^(import: [\d,]+ bytes\n)*plant-store: interrupted: the summary counts the records that are stored; import the same file again to continue\n$/

/** Longer than what the buffers between two processes hold. */
const LONG_NAME = 'x'.repeat(2 ** 20)

/** Two plants, and a third one that is cut off. */
const unfinished = {
  csv: `id,name\n1,a\n2,b\n3,${LONG_NAME}`,
  ndjson: `{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n{"id":3,"name":"${LONG_NAME}`,
}

/** Resolves once the reader has a part of the last record, because the buffers do not hold all of it. */
function write(input: Writable, text: string): Promise<void> {
  return new Promise((resolve) => input.write(text, () => resolve()))
}

for (const [format, signal, exitCode] of [
  ['csv', 'SIGINT', 130],
  ['ndjson', 'SIGTERM', 143],
] as const) {
  t.test(`${format}: an import interrupted by ${signal} stores whole records only`, async (t) => {
    const { file, load, feed, stored, summary } = importsOf(t)
    await load([file('stored.csv', 'id,name\n3,stored\n')])
    const replace = ['--on-conflict', 'replace']
    const command = feed({}, format, replace)
    await write(command.process.stdin as Writable, unfinished[format])
    command.process.kill(signal)
    const { code, stdout, stderr } = await command.finished()
    t.equal(code, exitCode)
    t.equal(stdout, summary({ created: 2 }))
    t.match(stderr, INTERRUPTED)
    t.match(stored(), [{ id: 1 }, { id: 2 }, { id: 3, name: 'stored' }])
  })
}

t.test('an interrupted dry run reports what it has read', async (t) => {
  const { load, feed, file } = importsOf(t)
  await load([file('stored.csv', 'id,name\n1,one\n')])
  const command = feed({}, 'csv', ['--dry-run', '--on-conflict', 'keep'])
  await write(command.process.stdin as Writable, unfinished.csv)
  command.process.kill('SIGINT')
  const { code, stdout, stderr } = await command.finished()
  t.equal(code, 130)
  t.match(stdout, /^created 1\n[\s\S]*\nkept 1\n[\s\S]*\ndry run: nothing was stored\n/)
  t.match(stderr, 'plant-store: interrupted: the summary counts the records that have been read\n')
})

t.test('an interrupted seed stores whole records only, and is continued', async (t) => {
  const { folder, database, file, stored } = importsOf(t)
  const pipe = join(folder, 'seed.csv')
  spawnSync('mkfifo', [pipe])
  const args = ['--port', '0', '--database', database]
  const service = new Command(t, [...args, '--seed', pipe])
  const input = createWriteStream(pipe)
  input.on('error', () => {})
  await write(input, unfinished.csv)
  service.process.kill('SIGTERM')
  t.strictSame(await service.finished(), {
    code: 143,
    stdout: '',
    stderr: `plant-store: interrupted while seeding from ${pipe}: 2 plants are stored (created 2, replayed 0); start again with the same seed to continue\n`,
  })
  t.match(stored(), [{ id: 1 }, { id: 2 }])
  const again = new Command(t, [...args, '--seed', file('again.csv', 'id,name\n1,a\n2,b\n3,c\n')])
  await again.listening()
  t.match(stored(), [{ id: 1 }, { id: 2 }, { id: 3, name: 'c' }])
})

t.test('a service that is stopped between its seed and its greeting stops cleanly', async (t) => {
  const { folder, database, file, stored } = importsOf(t)
  const seed = file('seed.csv', 'id,name\n1,a\n')
  await runHere(['token', 'create', '--name', 'x', '--create', '--database', database])
  const pipe = join(folder, 'access-token')
  spawnSync('mkfifo', [pipe])
  const args = ['--port', '0', '--database', database, '--seed', seed]
  const service = new Command(t, args)
  // Resolves once the service looks for its token, which it does after the seed.
  const token = await open(pipe, 'w')
  service.process.kill('SIGTERM')
  await token.close()
  const { code, stdout, stderr } = await service.finished()
  t.equal(code, 0)
  t.match(stdout, 'token     use an existing one')
  t.match(stderr, /"stopped"/)
  t.match(stored(), [{ id: 1 }])
})

t.test('the import continues when the readers of its output exit', async (t) => {
  const { database, file, stored } = importsOf(t)
  const plants = file('bad.csv', `id,name\n${'x,y\n'.repeat(5000)}1,a\n`)
  const args = ['import', plants, '--on-error', 'skip', '--create', '--database', database]
  const command = new Command(t, args)
  command.process.stdout?.destroy()
  command.process.stderr?.destroy()
  t.equal((await command.finished()).code, 2)
  t.match(stored(), [{ id: 1, name: 'a' }])
})

const lines = Array.from(
  { length: TRANSACTION_RECORDS + 500 },
  (_, id) => `{"id":${id},"name":"plant ${id}"}\n`,
)
const expected = lines.map((_, id) => ({ id, name: `plant ${id}`, tag: null }))

/** Feeds the import more than a transaction, and resolves once the transaction is stored. */
async function storeTransaction(
  command: Command,
  database: string,
  records = lines,
): Promise<void> {
  command.process.stdin?.write(records.slice(0, TRANSACTION_RECORDS + 100).join(''))
  await until(() => existsSync(`${database}-wal`))
  const db = new Sqlite(database)
  const tables = db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'plants'").pluck()
  await until(() => tables.get() === 1)
  const plants = db.prepare('SELECT count(*) FROM plants').pluck()
  await until(() => Number(plants.get()) >= TRANSACTION_RECORDS)
  db.close()
}

/** Polls rarely, because the other process needs the processor more. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setTimeout(5)
}

t.test('a killed import can be repeated, with the same result', async (t) => {
  const { database, file, load, feed, stored, summary } = importsOf(t)
  const command = feed()
  await storeTransaction(command, database)
  command.process.kill('SIGKILL')
  await command.finished()
  const before = stored().length
  t.ok(before >= TRANSACTION_RECORDS)
  const again = await load([file('all.ndjson', lines.join(''))])
  t.equal(again.code, 0)
  t.equal(again.stdout, summary({ created: lines.length - before, replayed: before }))
  t.strictSame(stored(), expected)
})
