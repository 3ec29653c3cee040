import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Command, run } from '../../helpers/processes/command.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { createPlant, logged } from '../../helpers/service/client.ts'
import { fill } from '../large-database.ts'

/** The commands of the docs before `plant-store restore`. */
function documentedCommands(): string {
  const page = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('### Restoring a backup')
  const [, commands = ''] = /```sh\n([\s\S]*?)npx plant-store restore BACKUP\n/.exec(section) ?? []
  return commands
}

t.test('a backup is restored as the docs say, and its tokens work', async (t) => {
  const cwd = t.testdir()
  const database = join(cwd, 'data', 'plants.db')
  const backup = join(cwd, 'backup.db')
  const first = new Command(t, ['--port', '0'], { cwd })
  const url = await first.listening()
  const token = readFileSync(join(cwd, 'data', 'access-token'), 'utf8').trim()
  await createPlant(url, token, { id: 1, name: 'Abies' })
  t.match(await runHere(['backup', backup, '--database', database]), { code: 0 })
  await createPlant(url, token, { id: 2, name: 'Acer' })
  first.process.kill('SIGKILL')
  await first.finished()
  t.ok(existsSync(`${database}-wal`), 'the log of the old database is left')

  const restore = () => runHere(['restore', backup, '--database', database])
  t.match(await restore(), { code: 1, stderr: `plant-store: ${database} already exists; ` })
  execFileSync('sh', ['-ec', documentedCommands()], { cwd })
  const { code, stdout, stderr } = await restore()
  t.equal(code, 0)
  t.match(stdout, new RegExp(`^restored to ${database}: 1 plants, [\\d,]+ bytes, `))
  t.match(
    stderr,
    /^restore: copied, .*\nBefore you start the service:\n- Tokens .*- Webhooks .*- C/s,
  )
  t.match(await runHere(['check', '--database', database]), { code: 0, stdout: /^(ok .*\n)+$/ })
  const restored = new Command(t, ['--port', '0'], { cwd })
  const restoredUrl = await restored.listening()
  t.match(restored.stdout, `token     ${join(cwd, 'data', 'access-token')}\n`)
  const headers = { authorization: `Bearer ${token}` }
  const plants = await (await fetch(`${restoredUrl}/plants`, { headers })).json()
  t.strictSame(plants, [{ id: 1, name: 'Abies' }])
  await createPlant(restoredUrl, token, { id: 3, name: 'Alnus' })
  t.match(await runHere(['check', '--database', database]), { code: 0, stdout: /^(ok .*\n)+$/ })
  restored.process.kill('SIGTERM')
  await restored.finished()
  execFileSync('sh', ['-ec', documentedCommands()], { cwd })
  t.match(await restore(), { code: 0 }, 'again')
  t.equal(readdirSync(join(cwd, 'data')).filter((name) => name.startsWith('before-')).length, 2)

  const elsewhere = join(cwd, 'moved', 'plants.db')
  rmSync(`${backup}.sha256`)
  const unchecked = await runHere(['restore', backup, '--database', elsewhere])
  t.match(unchecked, { code: 0, stderr: `plant-store: ${backup} has no .sha256 file, so it may ` })
  const moved = new Command(t, ['--port', '0', '--database', 'moved/plants.db'], { cwd })
  await moved.listening()
  t.match(
    moved.stdout,
    'token     use an existing one or create one with plant-store token create ',
  )
})

t.test('a signal ends a restore immediately and leaves no files', async (t) => {
  const folder = t.testdir({ backups: {} })
  const backup = join(folder, 'backups', 'backup.db')
  fill(join(folder, 'plants.db'), 100)
  t.match(await runHere(['backup', backup, '--database', join(folder, 'plants.db')]), { code: 0 })
  const database = join(folder, 'data', 'plants.db')
  const command = new Command(t, ['restore', backup, '--database', database])
  await logged(command, 'restore: copied, now verifying')
  command.process.kill('SIGTERM')
  const { code, stdout, stderr } = await command.finished()
  t.match({ code, stdout }, { code: null, stdout: '' })
  t.match(stderr, `\nplant-store: interrupted: ${database} was not created\n`)
  t.equal(command.process.signalCode, 'SIGTERM')
  t.same(readdirSync(join(folder, 'data')), [])
})

/** Sends the process a signal right after a copy has got its name, and waits until the process has it. */
const SIGNAL_AFTER_LINK = `
  import { once } from 'node:events'
  import fs from 'node:fs/promises'
  import { syncBuiltinESMExports } from 'node:module'
  const { link } = fs
  fs.link = async (...paths) => {
    await link(...paths)
    // Waiting for a signal does not keep a process alive.
    const timer = setInterval(() => {}, 1000)
    const received = once(process, 'SIGTERM')
    process.kill(process.pid, 'SIGTERM')
    await received
    clearInterval(timer)
  }
  syncBuiltinESMExports()`

for (const [what, done, files] of [
  ['backup', 'backed up', ['new.db', 'new.db.sha256']],
  ['restore', 'restored', ['new.db']],
] as const) {
  t.test(`a ${what} is completed if a signal arrives once it has its name`, async (t) => {
    const folder = t.testdir({ target: {} })
    const database = join(folder, 'plants.db')
    const backup = join(folder, 'backup.db')
    const target = join(folder, 'target', 'new.db')
    fill(database, 1)
    t.match(await runHere(['backup', backup, '--database', database]), { code: 0 })
    const node = ['--import', `data:text/javascript,${encodeURIComponent(SIGNAL_AFTER_LINK)}`]
    const [file, other] = what === 'backup' ? [target, database] : [backup, target]
    const args = [what, file, '--database', other]
    const { code, stdout, stderr } = await run(t, args, { node })
    t.equal(code, 0)
    t.match(stdout, `${done} to ${target}: 1 plants, `)
    t.notMatch(stderr, 'interrupted')
    t.same(readdirSync(join(folder, 'target')).sort(), files)
    t.match(await runHere(['check', '--database', target]), { code: 0 })
  })
}
