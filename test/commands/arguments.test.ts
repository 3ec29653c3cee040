import type { Command } from 'commander'
import t, { type Test } from 'tap'
import { program } from '../../src/commands/program.ts'
import { settings } from '../../src/config/config.ts'

/** For each setting a value that it cannot have, and what the refusal expects. */
const bad: Record<string, { value: string; expected: string }[]> = {
  host: [{ value: '', expected: 'some text' }],
  port: ['', 'x', '-1', '1.5', '65536', '1e3'].map((value) => ({
    value,
    expected: 'a whole number from 0 to 65535',
  })),
  database: [{ value: '', expected: 'some text' }],
  logLevel: [{ value: 'loud', expected: 'one of trace, debug, info, warn, error, fatal, silent' }],
  logRequests: [{ value: 'maybe', expected: 'one of off, changes, all' }],
  tlsCertificate: [{ value: '', expected: 'some text' }],
  tlsKey: [{ value: '', expected: 'some text' }],
  docs: [{ value: 'maybe', expected: 'one of on, off' }],
  bodyLimit: ['0', '1kB', '1073741825'].map((value) => ({
    value,
    expected: 'a whole number from 1 to 1073741824',
  })),
  requestTimeout: ['10', '0s', '0.4ms', '-1s', 's', '1y', '25h', `${'9'.repeat(200)}s`].map(aTime),
  responseTimeout: ['30'].map(aTime),
  maxConnections: [{ value: '0', expected: 'a whole number from 1 to 1048576' }],
  authFailureLimit: ['0/s', '5/d', '/s', '100', 'on'].map(aRate),
  rateLimit: ['1000'].map(aRate),
  trustProxy: [
    'proxy',
    '0.0.0.0/0',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    '::1,',
    '10.0.0.0/',
    '::/129',
    '1',
  ].map((value) => ({
    value,
    expected: 'addresses or networks such as 10.0.0.0/8,::1, separated by commas',
  })),
  lockTimeout: ['5'].map(aTime),
  shutdownTimeout: ['soon'].map(aTime),
  seed: [{ value: '', expected: 'some text' }],
  readyJson: [{ value: 'yes', expected: 'one of on, off' }],
}

function aTime(value: string) {
  return { value, expected: 'a time such as 500ms, 10s, 2m, 12h or 1d, and not more than 1d' }
}

function aRate(value: string) {
  return { value, expected: 'a rate such as 100/s, 1000/m or 5000/h, or off' }
}

/** What the command line says of arguments that it refuses before it does anything. */
async function refusal(t: Test, args: readonly string[]): Promise<string> {
  let said = ''
  const writeErr = (text: string) => {
    said += text
  }
  const listen = (command: Command) => {
    command.exitOverride().configureOutput({ writeErr }).commands.forEach(listen)
  }
  const command = program()
  listen(command)
  await t.rejects(command.parseAsync(args, { from: 'user' }), { name: 'CommanderError' })
  return said
}

for (const option of settings) {
  const cases = bad[option.attributeName()] ?? []
  t.test(`a bad ${option.long} says what was expected, in a flag and a variable`, async (t) => {
    t.ok(cases.length > 0, 'there is a case for every setting')
    const variable = option.envVar as string
    t.teardown(() => delete process.env[variable])
    for (const { value, expected } of cases) {
      delete process.env[variable]
      const byFlag = await refusal(t, ['serve', `${option.long}=${value}`])
      t.match(byFlag, `error: option '${option.flags}' argument '${value}' is invalid. `)
      t.match(byFlag, `Expected ${expected}.\n`)
      process.env[variable] = value
      const byVariable = await refusal(t, ['serve'])
      t.match(byVariable, `value '${value}' from env '${variable}' is invalid. `)
      t.match(byVariable, `Expected ${expected}.\n`)
    }
  })
}

const create = ['token', 'create', '--name']
const refused = [
  { args: ['--prot', '3000'], says: "unknown option '--prot'" },
  { args: ['sreve'], says: /too many arguments.*sreve/ },
  { args: ['token', 'create'], says: "required option '--name <name>' not specified" },
  { args: [...create, 'two words'], says: 'Expected up to 64 characters' },
  { args: [...create, 'x', '--scope', 'admin'], says: 'Expected read, write, or both' },
  { args: [...create, 'x', '--scope', 'read,read'], says: 'Expected read, write, or both' },
  { args: [...create, 'x', '--expires', 'soon'], says: 'Expected a time such as' },
  { args: [...create, 'x', '--expires', '36501d'], says: 'not more than 36500d' },
  { args: ['token', 'revoke'], says: "missing required argument 'name'" },
]

for (const { args, says } of refused) {
  t.test(`plant-store ${args.join(' ')} is refused`, async (t) => {
    t.match(await refusal(t, args), says)
  })
}

/** A command with all commands under it. */
function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsOf)]
}

t.test('--help describes every command, argument and option', async (t) => {
  const commands = commandsOf(program())
  t.ok(commands.length > 5)
  for (const command of commands) {
    t.match(command.description(), /\w/, command.name())
    for (const argument of command.registeredArguments) {
      t.match(argument.description, /\w/, `${command.name()} ${argument.name()}`)
    }
    for (const { description, flags } of command.options) {
      t.match(description, /\w/, `${command.name()} ${flags}`)
    }
  }
})
