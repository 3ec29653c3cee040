import { readdirSync } from 'node:fs'
import t from 'tap'
import { Command } from '../../helpers/processes/command.ts'
import { copying, filesOf } from '../large-database.ts'

const LOCK = '.plant-store-backup.lock'
const NAME = /^plants-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/

const list = (folder: string) =>
  readdirSync(folder).filter((name) => name !== LOCK && !name.endsWith('.sha256'))

t.test('backups are made until a signal, and the oldest are removed', async (t) => {
  const { database, folder } = filesOf(t, 1)
  const args = ['backup', '--every', '2s', '--keep', '1', folder, '--database', database]
  const command = new Command(t, args)
  const [, removed = ''] = await command.says(/; removed (\S+)\n/)
  command.process.kill('SIGTERM')
  const { code, stdout, stderr } = await command.finished()
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /^backing up to \S+; the next backup begins at \d{4}-\S+Z\n/)
  t.match(stdout, /\nbacked up to \S+: 1 plants, [\d,]+ bytes, \d+\.\d s\n/)
  t.match(removed, NAME)
  const left = list(folder)
  t.equal(left.length, 1)
  t.match(left[0], NAME)

  const again = ['backup', '--every', '1h', folder, '--database', database]
  const hourly = new Command(t, again)
  const [, next = ''] = await hourly.says(/begins at (\S+)\n/)
  const minutes = (Date.parse(next) - Date.now()) / 60_000
  t.ok(minutes > 50 && minutes < 60, `in ${minutes} minutes, because the last backup is recent`)
  hourly.process.kill('SIGINT')
  t.equal((await hourly.finished()).code, 0)
  t.same(list(folder), left)
})

t.test('a signal ends a copy at once and leaves nothing of it', async (t) => {
  const { database, folder } = filesOf(t, 100)
  const begun = copying(folder)
  const args = ['backup', '--every', '1h', folder, '--database', database]
  const command = new Command(t, args)
  await begun
  const start = performance.now()
  command.process.kill('SIGTERM')
  t.match(await command.finished(), { code: 0, stderr: '' })
  t.ok(performance.now() - start < 60_000)
  t.same(list(folder), [])
})
