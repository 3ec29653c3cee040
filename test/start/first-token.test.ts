import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { TokenStore } from '../../service/token-store.ts'
import { AccessTokens } from '../../src/auth/access-tokens.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { ensureFirstToken } from '../../src/start/first-token.ts'
import { openStore } from '../../src/stores/engines.ts'
import { StoreError } from '../../src/stores/shared/store-error.ts'

/** Opens a store for each start of the service, and closes them all after the test. */
function starter(t: Test) {
  const closing: (() => Promise<void>)[] = []
  t.teardown(() => Promise.all(closing.map((close) => close())))
  return async (database: string, token?: string) => {
    const sameThread = database !== ':memory:'
    const store = await openStore({ database, lockTimeout: 60_000, sameThread })
    closing.push(() => store.close())
    const tokens = new AccessTokens(new TokenStore(store), {
      fixedToken: token === undefined ? undefined : { name: 'fixed', token },
    })
    const config = { ...defaultConfig(), database, ...(token !== undefined && { token }) }
    return { provide: () => ensureFirstToken(config, tokens), tokens, store }
  }
}

function secretIn(file: string): string {
  return readFileSync(file, 'utf8').trim()
}

t.test('the first token is in a private file that later starts find', async (t) => {
  const start = starter(t)
  const folder = t.testdir()
  const [database, file] = [join(folder, 'plants.db'), join(folder, 'access-token')]
  t.same(await (await start(database)).provide(), { file })
  t.equal(statSync(file).mode & 0o777, 0o600)
  const secret = secretIn(file)
  const { provide, tokens } = await start(database)
  t.same(await provide(), { file })
  t.equal(secretIn(file), secret)
  t.match(await tokens.verify(secret), { name: 'first' })

  rmSync(file)
  t.same(await provide(), { hasTokens: true })
  t.notOk(existsSync(file))
})

t.test('a second database in the same folder gets its own token file', async (t) => {
  const start = starter(t)
  const folder = t.testdir({ 'other.db.access-token': 'from a deleted database' })
  await (await start(join(folder, 'plants.db'))).provide()
  const { provide, tokens } = await start(join(folder, 'other.db'))
  const file = join(folder, 'other.db.access-token')
  t.same(await provide(), { file })
  t.equal(statSync(file).mode & 0o777, 0o600, 'the old file was replaced')
  t.match(await tokens.verify(secretIn(file)), { name: 'first' })
  t.same(await provide(), { file }, 'the shared file is skipped')
})

t.test('a token that cannot be written to a file is not stored', async (t) => {
  // A longer name is not possible.
  const database = join(t.testdir(), `${'x'.repeat(230)}.db`)
  const { provide, store } = await starter(t)(database)
  const message = `cannot write the access token to ${database}.access-token`
  await t.rejects(provide(), { constructor: StoreError, message })
  t.same(await new TokenStore(store).list(), [])
})

t.test('if neither name is free, the token stays until the next start', async (t) => {
  const folder = t.testdir()
  const database = join(folder, 'plants.db')
  const file = join(folder, 'access-token')
  for (const taken of [file, `${database}.access-token`]) mkdirSync(taken)
  const { provide, tokens } = await starter(t)(database)
  const message = `cannot write the access token to ${database}.access-token`
  await t.rejects(provide(), { constructor: StoreError, message })
  rmSync(file, { recursive: true })
  t.same(await provide(), { file })
  t.match(await tokens.verify(secretIn(file)), { name: 'first' })
})

t.test('a start that is killed leaves no token without a file', async (t) => {
  for (const storesFirst of [false, true]) {
    const folder = t.testdir()
    const { store, tokens, provide } = await starter(t)(join(folder, 'plants.db'))
    const add = store.changeRecords
    store.changeRecords = async (...changes) => {
      if (storesFirst) await add.call(store, ...changes)
      throw new Error('killed')
    }
    await t.rejects(provide(), { message: 'killed' })
    store.changeRecords = add
    const file = join(folder, 'access-token')
    t.same(await provide(), { file })
    t.match(await tokens.verify(secretIn(file)), { name: 'first' })
    t.same(
      readdirSync(folder).filter((name) => name.includes('access-token')),
      ['access-token'],
      'no draft is left',
    )
  }
})

t.test('of two first starts at once, both name the file of the one that was first', async (t) => {
  const folder = t.testdir()
  const { store, provide } = await starter(t)(join(folder, 'plants.db'))
  const add = store.changeRecords
  const file = join(folder, 'access-token')
  store.changeRecords = async (...changes) => {
    store.changeRecords = add
    t.same(await provide(), { file })
    return add.call(store, ...changes)
  }
  t.same(await provide(), { file })
  t.equal((await new TokenStore(store).list()).length, 1)
})

t.test('a start is no use of the token', async (t) => {
  const { store, provide } = await starter(t)(join(t.testdir(), 'plants.db'))
  await provide()
  await provide()
  t.match(await new TokenStore(store).list(), [{ name: 'first', lastUsedAt: undefined }])
})

t.test('the token of a database in memory is returned but not written to a file', async (t) => {
  const { provide, tokens } = await starter(t)(':memory:')
  const access = (await provide()) as { token: string }
  t.match(await tokens.verify(access.token), { name: 'first' })
})

t.test('no token is created if the environment has one', async (t) => {
  const folder = t.testdir()
  const { provide, store } = await starter(t)(join(folder, 'plants.db'), 'sixteen-letters.')
  t.same(await provide(), { variable: 'PLANT_STORE_TOKEN' })
  t.notOk(existsSync(join(folder, 'access-token')))
  t.same(await new TokenStore(store).list(), [])
})

t.test('no token is created on a database server', async (t) => {
  const { tokens } = await starter(t)(':memory:')
  const config = { ...defaultConfig(), database: 'postgres://me@one,two/plants' }
  t.same(await ensureFirstToken(config, tokens), { hasTokens: false })
  await tokens.issue({ name: 'ci', scopes: ['read'] })
  t.same(await ensureFirstToken(config, tokens), { hasTokens: true })
})
