import { execFile } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { MAIN, withoutTap } from '../helpers/processes/command.ts'

const DRIVERS = ['better-sqlite3', 'pg']

/** The drivers that a command loads, whether or not it succeeds. */
async function driversOf(args: readonly string[]): Promise<string[]> {
  const preload = new URL('./loaded-packages.ts', import.meta.url).href
  const { promise, resolve } = Promise.withResolvers<string>()
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }
  const nodeArgs = ['--import', preload, MAIN, ...args]
  execFile(...withoutTap([process.execPath, ...nodeArgs]), { env }, (_error, _stdout, stderr) =>
    resolve(stderr),
  )
  const packages: string[] = JSON.parse((await promise).split('\n').at(-1) ?? '')
  return DRIVERS.filter((driver) => packages.includes(driver))
}

const folder = t.testdir()
const file = join(folder, 'plants.db')
/** No server listens on this port. */
const server = 'postgres://plants@127.0.0.1:1/plants'

for (const [args, drivers] of [
  [['token', 'create', '--name', 'x', '--create', '--database', file], ['better-sqlite3']],
  [['--database', server, '--port', '0'], ['pg']],
  [['backup', join(folder, 'backup.db'), '--database', server], []],
] as const) {
  t.test(
    `loads ${drivers.join() || 'no driver'}: ${args.join(' ').replaceAll(folder, '.')}`,
    async (t) => {
      t.same(await driversOf(args), drivers)
    },
  )
}
