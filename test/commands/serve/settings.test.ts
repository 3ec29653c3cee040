import { join } from 'node:path'
import t from 'tap'
import { settingOptions, settingsHelp } from '../../../src/commands/console/options.ts'
import { program } from '../../../src/commands/program.ts'
import { Command } from '../../helpers/processes/command.ts'
import { runHere } from '../../helpers/processes/command-here.ts'

for (const [variable, value, says] of [
  ['PROT', '1', /unknown environment variable PLANT_STORE_PROT: .*PLANT_STORE_PORT/],
  ['TOKEN', 'fifteen-letters', /TOKEN: expected at least 16 char/],
  ['TOKEN', 'has a space inside', /invalid PLANT_STORE_TOKEN: .* A-Z/],
] as const) {
  t.test(`the service does not start with PLANT_STORE_${variable}=${value}`, async (t) => {
    const finished = await runHere([], { [`PLANT_STORE_${variable}`]: value })
    t.match(finished, { code: 1, stdout: '', stderr: says })
    if (variable === 'TOKEN') t.notMatch(finished.stderr, value, 'a possible secret is not printed')
  })
}

t.test('settings are read from the environment, and flags take precedence', async (t) => {
  const folder = t.testdir()
  const command = new Command(t, ['--database', join(folder, 'flag.db')], {
    env: {
      PLANT_STORE_DATABASE: join(folder, 'variable.db'),
      PLANT_STORE_PORT: '0',
      PLANT_STORE_LOG_LEVEL: 'silent',
      PLANT_STORE_THREADS: '1',
    },
  })
  const url = await command.listening()
  t.not(new URL(url).port, '3000')
  t.match(command.stdout, `database  ${join(folder, 'flag.db')}\n`)
  command.process.kill('SIGTERM')
  t.match(await command.finished(), { code: 0, stderr: /^$/ })
})

t.test('--help lists every setting with its variable and default', async (t) => {
  let stdout = ''
  const command = program().exitOverride()
  command.configureOutput({
    getOutHelpWidth: () => 80,
    writeOut: (text) => {
      stdout += text
    },
  })
  const help = command.parseAsync(['--help'], { from: 'user' })
  await t.rejects(help, { name: 'CommanderError', exitCode: 0 })
  const text = stdout.replace(/\s+/g, ' ')
  for (const { flags, description, defaultValueDescription, envVar } of settingOptions) {
    const value = defaultValueDescription && `default: ${defaultValueDescription}, `
    t.match(text, `${flags} ${description} (${value ?? ''}`)
    t.match(text, `env: ${envVar})`)
  }
  t.match(stdout, settingsHelp)
})
