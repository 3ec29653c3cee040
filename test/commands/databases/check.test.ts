import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { insertToken } from '../../helpers/service/token-rows.ts'

t.test('the exit code tells an intact database from a faulty one', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const args = ['check', '--database', file]
  const service = openDatabase({ file, lockTimeout: 0 })
  t.teardown(() => service.close())
  const sound = await runHere(args)
  t.match(sound, { code: 0, stderr: '' })
  t.match(sound.stdout, /^(ok {4}\w+: .+\n){9}$/)
  chmodSync(file, 0o644)
  const open = await runHere(args)
  t.match(open, { code: 0, stderr: '' }, 'a mode that may be intentional is not a fault')
  t.match(
    open.stdout,
    `WARN  access: mode 0644 lets others read ${file}; chmod 600 makes it private\n`,
  )
  service.exec(insertToken('short', '00', '00'))
  const faulty = await runHere(args)
  t.match(faulty, { code: 2, stderr: '' })
  t.match(faulty.stdout, /^FAIL {2}tokens: damaged: short; /m)
  t.match(faulty.stdout, /^ok {4}plants: 0$/m, 'the remaining checks still run')
})

t.test('names in a database cannot control the terminal', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const service = openDatabase({ file, lockTimeout: 0 })
  service.exec('CREATE INDEX "a\x1b[2J\nb" ON plants (name)').close()
  const { code, stdout } = await runHere(['check', '--database', file])
  t.equal(code, 2)
  t.match(stdout, /^ok .*\nFAIL .* DROP INDEX "a\\u001b\[2J\\nb"\n$/)
})
