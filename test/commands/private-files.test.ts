import { chmodSync, chownSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { TokenStore } from '../../service/token-store.ts'
import { AccessTokens } from '../../src/auth/access-tokens.ts'
import { openDestination } from '../../src/commands/transfer/destination.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { ensureFirstToken } from '../../src/start/first-token.ts'
import { openStore } from '../../src/stores/engines.ts'
import { runHere } from '../helpers/processes/command-here.ts'

// The service and the commands run in this process, so files are private only if the code makes them so.
const umask = process.umask(0)
t.teardown(() => process.umask(umask))

const modeOf = (...path: string[]) => statSync(join(...path)).mode & 0o777

t.test('every file that the service and its commands create is private', async (t) => {
  const folder = t.testdir()
  const database = join(folder, 'plants.db')
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  await ensureFirstToken({ ...defaultConfig(), database }, new AccessTokens(new TokenStore(store)))
  const env = { PLANT_STORE_DATABASE: database }
  for (const args of [
    ['export', join(folder, 'plants.csv')],
    ['export', join(folder, 'plants.ndjson')],
    ['backup', join(folder, 'backup.db')],
    ['token', 'create', '--name', 'x', '--create', '--database', join(folder, 'other.db')],
  ]) {
    t.match(await runHere(args, env), { code: 0 }, args.join(' '))
  }
  const names = readdirSync(folder)
  t.same(names, [
    'access-token',
    'backup.db',
    'backup.db.sha256',
    'other.db',
    'plants.csv',
    'plants.db',
    'plants.db-shm',
    'plants.db-wal',
    'plants.ndjson',
  ])
  for (const name of names) t.equal(modeOf(folder, name), 0o600, name)
})

t.test('an export is private before its first byte is written', async (t) => {
  const folder = t.testdir()
  const { discard } = await openDestination(join(folder, 'plants.csv'), ':memory:')
  const [partial = ''] = readdirSync(folder)
  t.match(partial, /^plants\.csv\.partial-/)
  t.equal(modeOf(folder, partial), 0o600)
  await discard()
  t.same(readdirSync(folder), [])
})

/** Replaces a file that has the given mode with an export, and returns the mode of the export. */
async function modeOfReplacement(folder: string, mode: number): Promise<number> {
  const file = join(folder, 'plants.csv')
  writeFileSync(file, 'old')
  chmodSync(file, mode)
  const { stream, publish } = await openDestination(file, ':memory:')
  await new Promise<void>((resolve) => stream.end('id,name\n', resolve))
  await publish()
  return modeOf(file)
}

t.test('an export keeps the mode of the file it replaces, except for special bits', async (t) => {
  for (const mode of [0o644, 0o640, 0o600, 0o400, 0o666, 0o6755]) {
    const folder = t.testdir()
    await modeOfReplacement(folder, mode)
    t.equal(statSync(join(folder, 'plants.csv')).mode & 0o7777, mode & 0o777, mode.toString(8))
  }
})

const notRoot =
  process.geteuid?.() !== 0 && 'only root can give a file to a group that it is not in'
t.test('an export keeps the group of the file it replaces', { skip: notRoot }, async (t) => {
  const folder = t.testdir({ 'plants.csv': '' })
  chownSync(join(folder, 'plants.csv'), 0, 12_345)
  t.equal(await modeOfReplacement(folder, 0o640), 0o640)
  t.equal(statSync(join(folder, 'plants.csv')).gid, 12_345)
})

t.test('an export that replaces the file of another user is private', async (t) => {
  const folder = t.testdir()
  const user = process.geteuid?.() ?? 0
  t.intercept(process, 'geteuid', { value: () => user + 1 })
  t.equal(await modeOfReplacement(folder, 0o666), 0o600)
})

t.test('an export that cannot keep the group of the replaced file is private', async (t) => {
  const folder = t.testdir({ 'any file': '' })
  const handle = await open(join(folder, 'any file'))
  await handle.close()
  const refuse = () => Promise.reject(Object.assign(new Error('not permitted'), { code: 'EPERM' }))
  // Simulated, because root is never refused and other users cannot create such a file.
  t.intercept(Object.getPrototypeOf(handle), 'chown', { value: refuse })
  t.equal(await modeOfReplacement(folder, 0o664), 0o600)
})
