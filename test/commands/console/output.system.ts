/** What each command does if its standard output cannot be written. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Command as Program } from 'commander'
import t from 'tap'
import { declareIndexes } from '../../../service/sorting.ts'
import { program } from '../../../src/commands/program.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { cleanEnvironment, MAIN, withoutTap } from '../../helpers/processes/command.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { startService } from '../../helpers/service/service.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'

/** Scripts that run their arguments with a standard output that cannot be written. */
const OUTPUTS = {
  // A pipe without a reader: it is opened for both before it is opened for writing only.
  pipe: 'mkfifo pipe; exec 3<>pipe 4>pipe 3<&-; exec "$0" "$@" >&4 4>&-',
  full: 'exec "$0" "$@" > /dev/full',
  closed: 'exec "$0" "$@" >&-',
}

type Output = keyof typeof OUTPUTS
type Codes = Readonly<Record<Output, number>>

/** For a pipe, the code of a program that SIGPIPE has ended. Node opens the null device in place of a closed output. */
const RESULT: Codes = { pipe: 141, full: 1, closed: 0 }
/** They have done their work, and the exit code says how it ended. */
const WORK: Codes = { pipe: 0, full: 1, closed: 0 }
/** They go on, and report on standard error. */
const ENDLESS: Codes = { pipe: 0, full: 0, closed: 0 }
/** They store nothing that nobody has seen. */
const SECRET: Codes = { pipe: 1, full: 1, closed: 1 }

interface Case {
  readonly args: readonly string[]
  /** By default, `plants.db`. */
  readonly database?: string
  /** By default, RESULT. */
  readonly codes?: Codes
}

const USED = 'plants.db'
const WITHOUT_SECRETS = 'empty.db'
const MIRROR = 'mirror.db'
const FROZEN = 'frozen.db'

/** What a database has that commands can add, change or remove. */
const contents = async (database: string) => {
  const [tokens, webhooks] = [
    await runHere(['token', 'list', '--database', database]),
    await runHere(['webhook', 'list', '--database', database]),
  ]
  return [tokens.stdout, webhooks.stdout]
}

/** All commands that do something, such as `token create`. */
function namesOf(command: Program, parents: readonly string[] = []): string[] {
  return command.commands.flatMap((each) => {
    const path = [...parents, each.name()]
    return each.commands.length > 0 ? namesOf(each, path) : [path.join(' ')]
  })
}

t.test('commands whose standard output cannot be written', async (t) => {
  const source = await startService(t)
  await createIn(source.store, { id: 1n, name: 'Abies' })
  const receiver = createServer((_request, response) => response.writeHead(204).end())
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.teardown(() => receiver.close())
  const { port } = receiver.address() as AddressInfo
  const folder = t.testdir({ 'plants.ndjson': '{"id": 2, "name": "Acer"}\n' })
  const variables = { PLANT_STORE_MIRROR_TOKEN: source.token }
  const hook = ['--url', `http://127.0.0.1:${port}`, '--events', 'newPlant']
  const isPrivate = '--allow-private-webhooks'
  const prepare = async (...args: string[]) => {
    const { code, stderr } = await runHere(args, variables)
    t.equal(code, 0, `${args.join(' ')}: ${stderr}`)
  }
  const file = (name: string) => join(folder, name)
  const create = ['token', 'create', '--create', '--name', 'used']
  for (const database of [USED, WITHOUT_SECRETS, FROZEN]) {
    await prepare(...create, '--database', file(database))
  }
  await prepare('token', 'revoke', 'used', '--database', file(WITHOUT_SECRETS))
  await prepare('webhook', 'add', '--name', 'used', ...hook, isPrivate, '--database', file(USED))
  const used = new SqliteStore({ file: file(USED), lockTimeout: 10_000 })
  await declareIndexes(used, [{ name: 'name', type: 'string', isRequired: true }])
  await used.close()
  await prepare('freeze', '--database', file(FROZEN))
  await prepare('backup', file('backup.db'), '--database', file(USED))
  await prepare('mirror', source.url, '--once', '--database', file(MIRROR))
  const server = await (await sharedPostgres()).emptyDatabase()
  await prepare(...create, '--database', server)

  const cases: Readonly<Record<string, Case>> = {
    // With a seed, it handles signals before it listens.
    serve: { args: ['--port', '0', '--seed', file('plants.ndjson')] },
    'token create': { args: ['--name', 'new'], codes: SECRET },
    'token list': { args: [] },
    'token revoke': { args: ['used'] },
    'token copy': { args: [file(USED)], database: WITHOUT_SECRETS },
    'webhook add': { args: ['--name', 'new', ...hook, isPrivate], codes: SECRET },
    'webhook list': { args: [] },
    'webhook remove': { args: ['used'] },
    'webhook retry': { args: ['used'] },
    'webhook rotate': { args: ['used'], codes: { ...SECRET, pipe: 141 } },
    'webhook test': { args: ['used', isPrivate] },
    'webhook copy': { args: [file(USED)], database: WITHOUT_SECRETS },
    'index list': { args: [] },
    'index remove': { args: ['name'] },
    import: { args: [file('plants.ndjson')], codes: WORK },
    export: { args: ['-'], database: MIRROR, codes: WORK },
    backup: { args: ['new-backup.db'] },
    restore: { args: [file('backup.db')], database: 'restored.db' },
    check: { args: [] },
    mirror: { args: [source.url, '--once'], database: MIRROR, codes: ENDLESS },
    compare: { args: [source.url], database: MIRROR },
    'require-standbys': { args: ['0', '--database', server] },
    freeze: { args: [] },
    unfreeze: { args: [], database: FROZEN },
    promote: { args: [], database: MIRROR },
  }
  t.same(Object.keys(cases).sort(), namesOf(program()).sort(), 'every command is here')

  for (const [name, { args, database = USED, codes = RESULT }] of Object.entries(cases)) {
    for (const [output, script] of Object.entries(OUTPUTS) as [Output, string][]) {
      // Only commands that look for a closed output notice it. One other shows what Node does.
      const looks = name === 'serve' || name === 'check' || codes.closed !== 0
      if (output === 'closed' && !looks) continue
      t.test(`${name} with the output ${output}`, async (t) => {
        const cwd = t.testdir()
        const own = join(cwd, database)
        if (existsSync(file(database))) copyFileSync(file(database), own)
        const storesSecret = codes.closed !== 0
        const before = storesSecret && (await contents(own))
        const line = [...name.split(' '), ...args]
        const located = args.includes('--database') ? line : [...line, '--database', own]
        const started = ['/bin/sh', '-c', script, process.execPath, MAIN, ...located]
        const child = spawn(...withoutTap(started), {
          cwd,
          env: { ...cleanEnvironment(), ...variables },
          stdio: ['ignore', 'ignore', 'pipe'],
        })
        t.teardown(() => child.kill('SIGKILL'))
        let stderr = ''
        child.stderr?.on('data', (chunk) => {
          stderr += chunk
          const isServing = output === 'closed' && stderr.includes('Server listening')
          if (isServing && !child.killed) child.kill('SIGTERM')
        })
        const [code] = await once(child, 'close')
        t.equal(code, codes[output], stderr)
        t.notMatch(stderr, /\n {4}at /, 'no stack trace')
        if (output === 'full') {
          t.match(stderr, 'plant-store: cannot write to standard output: no space left on device')
        }
        if (output === 'pipe' && code === 141) t.notMatch(stderr, 'plant-store: ')
        if (storesSecret) t.strictSame(await contents(own), before)
      })
    }
  }
})
