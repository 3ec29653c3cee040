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
import { run, withoutTap } from '../helpers/processes/command.ts'

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

const CACHE_FOLDER = join('.cache', 'plant-store')

/** Makes a folder one that another user could have prepared, or could change later. */
const hasMode = (path: string, mode: number) => (home: string) => chmodSync(join(home, path), mode)

const belongsToAnother = (path: string) => (home: string) =>
  chownSync(join(home, path), ANOTHER, ANOTHER)

const UNSAFE: Readonly<Record<string, (home: string, t: Test) => void>> = {
  'the group can write to it': hasMode(CACHE_FOLDER, 0o770),
  'others can write to it': hasMode(CACHE_FOLDER, 0o707),
  'others can read it': hasMode(CACHE_FOLDER, 0o755),
  'the group can write to ~/.cache': hasMode('.cache', 0o770),
  'everyone can write to ~/.cache, which has the sticky bit': hasMode('.cache', 0o1777),
  'others could rename ~/.cache': hasMode('.', 0o777),
  'it is in the home of another user, as with sudo': (_home, t) =>
    t.intercept(process, 'geteuid', { value: () => ANOTHER }),
  'this is Windows, which has no user ids': (_home, t) =>
    t.intercept(process, 'geteuid', { value: undefined }),
  'it is a file': (home) => {
    rmSync(join(home, CACHE_FOLDER), { recursive: true })
    writeFileSync(join(home, CACHE_FOLDER), '', { mode: 0o600 })
  },
  // Only root can give a folder to another user.
  ...(user === 0 && {
    'the home belongs to another user': belongsToAnother('.'),
    '~/.cache belongs to another user': belongsToAnother('.cache'),
    'it belongs to another user': belongsToAnother(CACHE_FOLDER),
  }),
}
for (const [what, prepare] of Object.entries(UNSAFE)) {
  t.test(`there is no cache if ${what}`, async (t) => {
    const home = homeOf(t)
    mkdirSync(join(home, CACHE_FOLDER), { mode: 0o700 })
    prepare(home, t)
    const modes = () =>
      ['.', '.cache', CACHE_FOLDER].map((path) => lstatSync(join(home, path)).mode)
    const before = modes()
    t.equal(compileCacheFolder(), undefined)
    t.same(modes(), before)
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
