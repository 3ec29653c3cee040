import { join } from 'node:path'
import t from 'tap'
import { settings, settingsHelp } from '../../src/config/config.ts'
import { Command, run } from '../helpers/command.ts'
import { runHere } from '../helpers/command-here.ts'

t.test('a bad flag fails the start', async (t) => {
  const { code, stdout, stderr } = await run(t, ['--port', 'x'])
  t.match({ code, stdout }, { code: 1, stdout: '' })
  t.match(stderr, /Expected a whole number from 0 to 65535/)
})

const refused = [
  { variable: 'PLANT_STORE_PROT', value: '1', says: /_PROT is not .*PLANT_STORE_PORT/ },
  { variable: 'PLANT_STORE_TOKEN', value: 'fifteen-letters', says: /TOKEN.* at least 16 char/ },
  { variable: 'PLANT_STORE_TOKEN', value: 'has a space inside', says: /TOKEN must have.* A-Z/ },
]

for (const { variable, value, says } of refused) {
  t.test(`${variable}=${value} fails the start`, async (t) => {
    const { code, stdout, stderr } = await runHere([], { [variable]: value })
    t.match({ code, stdout }, { code: 1, stdout: '' })
    t.match(stderr, says)
    if (value.length > 10) t.notMatch(stderr, value, 'a value that may be secret is not printed')
  })
}

t.test('variables set settings, and flags override them', async (t) => {
  const folder = t.testdir()
  const command = new Command(t, ['--database', join(folder, 'flag.db')], {
    env: {
      PLANT_STORE_DATABASE: join(folder, 'variable.db'),
      PLANT_STORE_PORT: '0',
      PLANT_STORE_LOG_LEVEL: 'silent',
    },
  })
  const url = await command.listening()
  t.not(new URL(url).port, '3000')
  t.match(command.stdout, `database  ${join(folder, 'flag.db')}\n`)
  command.process.kill('SIGTERM')
  t.match(await command.finished(), { code: 0, stderr: /^$/ })
})

t.test('--help lists every setting with its variable and default', async (t) => {
  const { code, stdout } = await run(t, ['--help'], { env: { COLUMNS: '80' } })
  t.equal(code, 0)
  const text = stdout.replace(/\s+/g, ' ')
  for (const { flags, description, defaultValueDescription, envVar } of settings) {
    const value = defaultValueDescription && `default: ${defaultValueDescription}, `
    t.match(text, `${flags} ${description} (${value ?? ''}`)
    t.match(text, `env: ${envVar})`)
  }
  t.match(stdout, settingsHelp)
})

t.test('--version is the one of the package', async (t) => {
  const { default: meta } = await import('../../package.json', { with: { type: 'json' } })
  t.match(await run(t, ['--version']), { code: 0, stdout: `${meta.version}\n` })
})
