import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createPlant } from '../helpers/client.ts'
import { Command } from '../helpers/command.ts'
import { runHere } from '../helpers/command-here.ts'

/** The commands of the docs up to the first one of ours. */
function documentedCommands(backup: string): string {
  const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('### Restoring a backup')
  const [, commands = ''] = /```sh\n([\s\S]*?)npx plant-store check/.exec(section) ?? []
  return commands.replace('BACKUP', backup)
}

t.test('a backup is restored as the docs say, and its tokens work', async (t) => {
  const cwd = t.testdir({ moved: {} })
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

  execFileSync('sh', ['-ec', documentedCommands(backup)], { cwd })
  t.match(await runHere(['check', '--database', database]), { code: 0, stdout: /^(ok .*\n)+$/ })
  const restored = new Command(t, ['--port', '0'], { cwd })
  const restoredUrl = await restored.listening()
  t.match(restored.stdout, `token     ${join(cwd, 'data', 'access-token')}\n`)
  const headers = { authorization: `Bearer ${token}` }
  const plants = await (await fetch(`${restoredUrl}/plants`, { headers })).json()
  t.strictSame(plants, [{ id: 1, name: 'Abies' }])
  await createPlant(restoredUrl, token, { id: 3, name: 'Alnus' })
  t.match(await runHere(['check', '--database', database]), { code: 0, stdout: /^(ok .*\n)+$/ })

  copyFileSync(backup, join(cwd, 'moved', 'plants.db'))
  const moved = new Command(t, ['--port', '0', '--database', 'moved/plants.db'], { cwd })
  await moved.listening()
  t.match(
    moved.stdout,
    'token     use an existing one or create one with plant-store token create ',
  )
})
