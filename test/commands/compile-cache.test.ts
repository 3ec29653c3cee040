import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { compileCacheFolder } from '../../bin/compile-cache.js'
import meta from '../../package.json' with { type: 'json' }
import { run, withoutTap } from '../helpers/command.ts'

const user = process.geteuid?.() as number
const ANOTHER = user + 1

/** Sets an environment variable until the end of the test, or unsets it if there is no value. */
function setVariable(t: Test, name: string, value?: string): void {
  const before = process.env[name]
  t.teardown(() => restore(before))
  restore(value)

  function restore(value: string | undefined) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

/** A home directory with folders, set in the environment. */
function homeOf(t: Test, folders: readonly string[] = ['.cache']): string {
  const home = join(t.testdir(), 'home')
  setVariable(t, 'HOME', home)
  setVariable(t, 'XDG_CACHE_HOME')
  mkdirSync(home, { mode: 0o755 })
  for (const folder of folders) mkdirSync(join(home, folder), { mode: 0o700 })
  return home
}

t.test('the cache and a missing cache folder are private', async (t) => {
  for (const folders of [['.cache'], []]) {
    const home = homeOf(t, folders)
    const folder = join(home, '.cache', 'plant-store')
    t.equal(compileCacheFolder(), folder)
    for (const each of [folder, join(home, '.cache')]) t.equal(lstatSync(each).mode & 0o777, 0o700)
    t.equal(compileCacheFolder(), folder, 'an existing folder is reused')
    rmSync(home, { recursive: true })
  }
})

t.test('XDG_CACHE_HOME names another cache folder, unless it is relative', async (t) => {
  const home = homeOf(t, ['.cache', 'caches'])
  process.env.XDG_CACHE_HOME = join(home, 'caches')
  t.equal(compileCacheFolder(), join(home, 'caches', 'plant-store'))
  process.env.XDG_CACHE_HOME = 'caches'
  t.equal(compileCacheFolder(), join(home, '.cache', 'plant-store'))
})

t.test('the cache folder can be a symbolic link to another disk', async (t) => {
  const home = homeOf(t, ['disk'])
  symlinkSync('disk', join(home, '.cache'))
  t.equal(compileCacheFolder(), join(home, '.cache', 'plant-store'))
  t.same(readdirSync(join(home, 'disk')), ['plant-store'])
})

/** Modes with which another user could have prepared a folder, or could change it later. */
const HOSTILE = [
  ['.cache/plant-store', 0o770],
  ['.cache/plant-store', 0o707],
  ['.cache/plant-store', 0o755],
  ['.cache', 0o770],
  // In a folder that everyone can write to, with the sticky bit.
  ['.cache', 0o1777],
  // Others could rename the cache folder.
  ['.', 0o777],
] as const
for (const [path, mode] of HOSTILE) {
  t.test(`there is no cache if ~/${path} has the mode ${mode.toString(8)}`, async (t) => {
    const home = homeOf(t)
    makeCache(home)
    chmodSync(join(home, path), mode)
    t.equal(compileCacheFolder(), undefined)
    t.equal(lstatSync(join(home, path)).mode & 0o7777, mode)
  })
}

t.test('there is no cache if it is a file', async (t) => {
  const file = join(homeOf(t), '.cache', 'plant-store')
  writeFileSync(file, '', { mode: 0o600 })
  t.equal(compileCacheFolder(), undefined)
  t.ok(lstatSync(file).isFile())
})

function makeCache(home: string): void {
  mkdirSync(join(home, '.cache', 'plant-store'), { mode: 0o700 })
}

for (const [what, geteuid] of [
  ['in the home of another user, as with sudo', () => ANOTHER],
  ['on Windows, which has no user ids', undefined],
] as const) {
  t.test(`there is no cache ${what}`, async (t) => {
    const home = homeOf(t)
    t.intercept(process, 'geteuid', { value: geteuid })
    t.equal(compileCacheFolder(), undefined)
    t.same(readdirSync(home, { recursive: true }), ['.cache'])
  })
}

const notRoot = user !== 0 && 'only root can give a folder to another user'
for (const name of ['.', '.cache', '.cache/plant-store']) {
  t.test(`there is no cache if ~/${name} belongs to another user`, { skip: notRoot }, async (t) => {
    const home = homeOf(t)
    makeCache(home)
    chownSync(join(home, name), ANOTHER, ANOTHER)
    t.equal(compileCacheFolder(), undefined)
  })
}

t.test('a user without a home directory has no cache', async (t) => {
  const home = homeOf(t)
  for (const other of ['/nonexistent', '', 'relative', join(home, 'missing')]) {
    process.env.HOME = other
    t.equal(compileCacheFolder(), undefined, other)
    t.notOk(existsSync(join(other, '.cache', 'plant-store')), other)
  }
})

t.test('no cache is created in a shared temporary folder', async (t) => {
  const home = homeOf(t)
  const shared = join(home, 'tmp')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  for (const variables of [{ HOME: shared }, { XDG_CACHE_HOME: join(shared, 'caches') }]) {
    Object.assign(process.env, variables)
    t.equal(compileCacheFolder(), undefined, Object.keys(variables).join())
  }
  t.same(readdirSync(shared), [])
})

for (const { what, variables, used } of [
  {
    what: 'in the home directory',
    variables: { NODE_COMPILE_CACHE: '' },
    used: ['.cache', 'plant-store'],
  },
  {
    what: 'in the folder that the operator chooses',
    variables: { NODE_COMPILE_CACHE: 'chosen' },
    used: ['chosen'],
  },
]) {
  t.test(`the command caches compiled code ${what}`, async (t) => {
    const home = homeOf(t, ['.cache', 'tmp', 'chosen'])
    const env = { HOME: home, TMPDIR: join(home, 'tmp'), XDG_CACHE_HOME: '', ...variables }
    const stdout = `${meta.version}\n`
    t.strictSame(await run(t, ['--version'], { cwd: home, env }), { code: 0, stdout, stderr: '' })
    t.equal(readdirSync(join(home, ...used)).length, 1)
    const others = ['.cache', 'tmp', 'chosen'].filter((folder) => folder !== used[0])
    for (const folder of others) t.same(readdirSync(join(home, folder)), [], folder)
  })
}

const CACHE = new URL('../../bin/compile-cache.js', import.meta.url).href

/** Prints the compile cache while it is turned off, without a home, then with one, in a thread, and with another home. */
const KEEPS_CACHE = `
  import { once } from 'node:events'
  import { getCompileCacheDir } from 'node:module'
  import { dirname } from 'node:path'
  import { Worker } from 'node:worker_threads'
  const { useCompileCache } = await import(process.argv[1])
  const print = (folder) => console.log(folder === undefined ? 'off' : dirname(folder))
  const { HOME } = process.env
  useCompileCache()
  print(getCompileCacheDir())
  delete process.env.NODE_DISABLE_COMPILE_CACHE
  process.env.HOME = '/nonexistent'
  useCompileCache()
  print(getCompileCacheDir())
  process.env.HOME = HOME
  useCompileCache()
  print(getCompileCacheDir())
  const script = \`
    import { getCompileCacheDir } from 'node:module'
    import { parentPort } from 'node:worker_threads'
    parentPort.postMessage(getCompileCacheDir())
  \`
  print((await once(new Worker(script, { eval: true }), 'message'))[0])
  process.env.HOME = '/nonexistent'
  useCompileCache()
  print(getCompileCacheDir())
`

t.test('a process keeps using the first cache folder it found', async (t) => {
  const home = homeOf(t)
  const env = { HOME: home, PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: '1' }
  const line = [process.execPath, '--input-type=module', '--eval', KEEPS_CACHE, CACHE]
  const options = { env, encoding: 'utf8' } as const
  const { stdout, stderr } = spawnSync(...withoutTap(line), options)
  const folder = join(home, '.cache', 'plant-store')
  t.same(stdout.split('\n').filter(Boolean), ['off', 'off', folder, folder, folder], stderr)
})
