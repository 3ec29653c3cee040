import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { printBackup } from '../../../src/commands/backup/repeated-backup.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { filesOf, fill } from '../large-database.ts'
import { replaceWaits } from '../waits.ts'

for (const [interval, intervalMs, retry, retryMs] of [
  ['1h', 3_600_000, '1m', 60_000],
  ['2s', 2000, '2s', 2000],
] as const) {
  t.test(`with --every ${interval}, a failed backup is repeated after ${retry}`, async (t) => {
    const { database, folder } = filesOf(t, 0)
    rmSync(database)
    const waits: number[] = []
    const newest: number[] = []
    replaceWaits(t, (milliseconds) => {
      waits.push(milliseconds)
      newest.push(
        Number(
          /newest_timestamp_seconds{folder=.* (\S+)\n/.exec(readFileSync(metrics, 'utf8'))?.[1],
        ),
      )
      if (waits.length === 3) fill(database, 1)
      if (waits.length === 4) process.emit('SIGTERM')
    })
    const metrics = join(dirname(folder), 'plant-store.prom')
    const args = ['backup', '--every', interval, folder, '--metrics-file', metrics]
    const { code, stdout, stderr } = await runHere([...args, '--database', database])
    t.equal(code, 0)
    const failure = `plant-store: there is no database ${database}; trying again in ${retry}\n`
    t.equal(stderr, failure.repeat(2))
    t.match(stdout, /\nbacked up to .*: 1 plants, .*\n$/)
    const begun = newest.pop() ?? 0
    t.same(newest, [0, 0, 0], 'no backup yet')
    t.ok(Math.abs(begun - Date.now() / 1000) < 60)
    t.match(
      readFileSync(metrics, 'utf8'),
      `interval_seconds{folder="${folder}"} ${intervalMs / 1000}\n`,
    )
    t.equal(statSync(metrics).mode & 0o777, 0o644, 'node_exporter can read it')
    t.same(
      readdirSync(dirname(metrics)).filter((name) => name.includes('.prom')),
      ['plant-store.prom'],
    )
    const [first, ...others] = waits
    const next = others.pop() ?? 0
    t.equal(first, 0)
    t.same(others, [retryMs, retryMs])
    t.ok(next <= intervalMs && next > intervalMs - 60_000, `the next backup begins in ${next} ms`)
  })
}

t.test('metrics that cannot be written are reported, and backups go on', async (t) => {
  const { database, folder } = filesOf(t, 1)
  let waits = 0
  replaceWaits(t, () => {
    if (++waits === 2) process.emit('SIGTERM')
  })
  const metrics = join(folder, 'missing', 'x.prom')
  const args = ['backup', '--every', '1h', folder, '--metrics-file', metrics]
  const { code, stdout, stderr } = await runHere([...args, '--database', database])
  t.equal(code, 0)
  t.match(stdout, /\nbacked up to /)
  t.match(stderr, new RegExp(`^(plant-store: cannot write ${metrics}: ENOENT.*\n){2}$`))
})

t.test('an old backup that cannot be removed is reported', async (t) => {
  const err = t.capture(process.stderr, 'write')
  const removed = ['a.db', 'b.db']
  const { write } = process.stdout
  let stdout = ''
  // Not captured, because tap writes to it meanwhile.
  process.stdout.write = ((text: string, done?: () => void) => {
    if (!String(text).startsWith('backed up')) return write.call(process.stdout, text)
    stdout += text
    done?.()
    return true
  }) as typeof write
  t.teardown(() => {
    process.stdout.write = write
  })
  const backup = { file: '/c.db', plants: 1, bytes: 4096, sha256: '', removed, problem: 'EPERM' }
  await printBackup(backup, 0)
  t.match(stdout, /^backed up to \/c\.db: 1 plants, 4,096 bytes, \S+ s; removed a\.db, b\.db\n$/)
  t.same(
    err().map(({ args }) => args[0]),
    ['plant-store: EPERM\n'],
  )
})
