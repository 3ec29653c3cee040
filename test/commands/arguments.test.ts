import type { Command } from 'commander'
import t, { type Test } from 'tap'
import { settingOptions } from '../../src/commands/console/options.ts'
import { program } from '../../src/commands/program.ts'
import { type SettingName, settingNames, toFlag } from '../../src/config/settings.ts'

const TEXT = 'a non-empty string'
const SWITCH = 'one of on, off'
const DURATION = 'a duration from 1ms to 1d, in ms, s, m, h or d'
const RATE = 'a rate such as 100/s, 1000/m or 5000/h, or off'
const SCOPE = 'a scope such as plants:read'

/** For each setting, what the error message expects, and invalid values. */
const bad: Record<SettingName, readonly [expected: string, ...values: string[]]> = {
  host: [TEXT, ''],
  port: ['an integer from 0 to 65535', '', 'x', '-1', '1.5', '65536', '1e3'],
  adminPort: [
    'an integer from 0 to 65535, or an address such as 0.0.0.0:3001 or [::]:3001',
    ...['', 'x', '65536', ':3001', 'localhost:3001', '0.0.0.0', '0.0.0.0:', '0.0.0.0:65536'],
    ...['::1:3001', '[127.0.0.1]:3001', '[::1]', '3001:0.0.0.0'],
  ],
  database: [TEXT, ''],
  contract: [TEXT, ''],
  hideFields: [SWITCH, 'maybe'],
  keepChanges: ['a duration from 1m to 3650d, in ms, s, m, h or d', '0', '59s', '-1d', '3651d'],
  keepChangesBytes: ['an integer from 1048576 to 1125899906842624', '0', '1048575', '1GB'],
  allowPrivateWebhooks: [SWITCH, 'maybe'],
  logLevel: ['one of trace, debug, info, warn, error, fatal, silent', 'loud'],
  logRequests: ['one of off, changes, all', 'maybe'],
  tlsCertificate: [TEXT, ''],
  tlsKey: [TEXT, ''],
  page: [SWITCH, 'maybe'],
  docs: [SWITCH, 'maybe'],
  bodyLimit: ['an integer from 1 to 1073741824', '0', '1kB', '1073741825'],
  requestTimeout: [DURATION, '10', '0s', '0.4ms', '-1s', 's', '1y', '25h', `${'9'.repeat(200)}s`],
  keepAliveTimeout: [DURATION, '2d'],
  requireStandbys: ['an integer from 0 to 100', '', '-1', 'x', '101', '1.5'],
  threads: ['auto or an integer from 1 to 256', '0', '-1', 'x', '257', '1.5'],
  maxConnections: ['an integer from 1 to 1048576', '0'],
  authFailureLimit: [RATE, '0/s', '5/d', '/s', '100', 'on'],
  rateLimit: [RATE, '1000'],
  oidcIssuer: [
    'a URL such as https://id.example/realms/plants, without query or fragment; http only for this machine',
    ...['id.example', 'ftp://id.example', 'http://id.example', ' https://id.example'],
    ...['https://id.example?realm=plants', 'https://id.example/#plants'],
    'https://user:password@id.example',
  ],
  oidcAudience: [TEXT, ''],
  oidcReadScope: [SCOPE, '', 'two words', 'a"'],
  oidcWriteScope: [SCOPE, '\\', 'é'],
  oidcClientId: [TEXT, ''],
  publicUrl: [
    'a URL such as https://plants.example or https://example.com/plants, without query or fragment',
    ...['', 'plants.example', '/plants', 'https://plants.example/?x', 'https://'],
  ],
  corsOrigin: [
    'origins such as https://app.example or http://localhost:5173, separated by commas, or * for all',
    ...['null', 'app.example', 'localhost:5173', 'https://', 'file://', 'https://a.example,'],
    ...['https://*.example', '*,https://a.example'],
  ],
  trustProxy: [
    'addresses or networks such as 10.0.0.0/8,::1, separated by commas',
    ...['proxy', '0.0.0.0/0', '10.0.0.0/33', '10.0.0.0/8/8', '::1,', '10.0.0.0/', '::/129', '1'],
  ],
  lockTimeout: [DURATION, '5'],
  shutdownTimeout: [DURATION, 'soon'],
  seed: [TEXT, ''],
  faults: [TEXT, ''],
  readyJson: [SWITCH, 'yes'],
}

/** Origins that are misspelled, and the correct spelling. */
const misspelled = {
  'https://app.example': [
    ...['https://app.example/', 'https://app.example/path?query#fragment', 'https://APP.example'],
    ...['HTTPS://app.example', 'https://app.example:443', ' https://app.example'],
    'https://user:password@app.example',
  ],
  'https://xn--pp-uia.example': ['https://äpp.example'],
  'http://[::1]:5173': ['http://[::0001]:5173'],
}

/** Returns the error message for arguments that commander rejects. */
async function parseError(t: Test, args: readonly string[]): Promise<string> {
  let message = ''
  const writeErr = (text: string) => {
    message += text
  }
  const capture = (command: Command) => {
    command.exitOverride().configureOutput({ writeErr }).commands.forEach(capture)
  }
  const command = program()
  capture(command)
  const parsed = command.parseAsync(args, { from: 'user' })
  await t.rejects(parsed, { name: 'CommanderError', exitCode: 1 })
  return message
}

for (const [index, name] of settingNames.entries()) {
  const flag = toFlag(name)
  t.test(`the error for an invalid ${flag} says what was expected`, async (t) => {
    const { flags, envVar: variable = '' } = settingOptions[index] ?? {}
    const [expected, ...values] = bad[name]
    for (const value of values) {
      const byFlag = await parseError(t, ['serve', `${flag}=${value}`])
      t.match(byFlag, `error: option '${flags}' argument '${value}' is invalid. `)
      t.match(byFlag, `Expected ${expected}.\n`)
    }
    t.teardown(() => delete process.env[variable])
    process.env[variable] = String(values[0])
    const byVariable = await parseError(t, ['serve'])
    t.match(byVariable, `value '${values[0]}' from env '${variable}' is invalid. `)
    t.match(byVariable, `Expected ${expected}.\n`)
  })
}

t.test('the error for a misspelled origin has the correct spelling', async (t) => {
  for (const [origin, values] of Object.entries(misspelled)) {
    for (const value of values) {
      const message = await parseError(t, ['serve', `--cors-origin=https://a.example,${value}`])
      t.match(message, `Expected the origin ${origin} instead of ${value}.\n`)
    }
  }
})

const create = ['token', 'create', '--name']
const add = ['webhook', 'add', '--name', 'x', '--url', 'https://receiver.example']
const rejected = [
  { args: ['--prot', '3000'], says: "unknown option '--prot'. Did you mean '--port'?" },
  { args: ['serv'], says: "unknown command 'serv'. Did you mean 'serve'?" },
  { args: ['refreeze'], says: "unknown command 'refreeze'. Did you mean 'freeze' or 'unfreeze'?" },
  { args: ['imprt', 'x', '--strict'], says: "unknown command 'imprt'. Did you mean 'import'?" },
  { args: ['--port', '1', 'serv'], says: "unknown command 'serv'. Did you mean 'serve'?" },
  { args: ['--port', '1', 'serve'], says: /too many arguments/ },
  { args: ['--port', 'x', 'serv'], says: /'--port <number>' argument 'x' is invalid/ },
  { args: ['frobnicate'], says: /unknown command 'frobnicate'\n/ },
  { args: ['serve', 'x'], says: /too many arguments/ },
  { args: ['token', 'creat'], says: "unknown command 'creat'. Did you mean 'create'?" },
  { args: ['import', 'x', '--strct'], says: "unknown option '--strct'. Did you mean '--strict'?" },
  { args: ['token', 'create'], says: "required option '--name <name>' not specified" },
  { args: [...create, 'two words'], says: 'Expected 1 to 64 characters' },
  { args: [...create, 'x', '--scope', 'admin'], says: 'Expected read, write, or both' },
  { args: [...create, 'x', '--scope', 'read,read'], says: 'Expected read, write, or both' },
  { args: [...create, 'x', '--expires', 'soon'], says: 'Expected a duration from' },
  { args: [...create, 'x', '--expires', '36501d'], says: 'from 1ms to 36500d' },
  {
    args: [...add, '--events', 'newPlant,planted'],
    says: 'Expected newPlant, plantChanged, plantRemoved, separated by commas.',
  },
  { args: ['backup', 'x', '--every', 'hour'], says: 'Expected a duration from' },
  { args: ['backup', 'x', '--every', '999ms'], says: 'Expected at least 1s' },
  { args: ['backup', 'x', '--every', '25d'], says: 'from 1ms to 24d' },
  { args: ['backup', 'x', '--every', '1h', '--keep', '0'], says: 'Expected an integer from 1 to' },
  { args: ['backup', 'x', '--keep', '2'], says: "option '--keep' requires '--every'" },
  { args: ['backup', 'x', '--metrics-file', 'y'], says: "'--metrics-file' requires '--every'" },
  { args: ['token', 'revoke'], says: "missing required argument 'name'" },
]

for (const { args, says } of rejected) {
  t.test(`plant-store ${args.join(' ')} is rejected`, async (t) => {
    const message = await parseError(t, args)
    t.match(message, says)
    t.match(message, /\(see plant-store.* --help\)\n$/)
  })
}

t.test('errors about arguments contain no control characters', async (t) => {
  for (const args of [
    ['--\x1b]0;x\x07'],
    ['\x1b[2J'],
    ['--port', '\x1b[2J\nplant-store: all is well'],
    ['token', 'list', '--\u202e'],
    ['token', '\x9b2J'],
  ]) {
    const message = await parseError(t, args)
    t.match(message, /\\u00(1b|9b)|\\u202e/)
    t.notMatch(message, /[^\P{Cc}\n]|\p{Bidi_Control}/u)
    t.equal(message.split('\n').length, 3, 'the error, and where to find help')
  }
})

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
