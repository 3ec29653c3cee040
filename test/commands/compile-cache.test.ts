import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { compileCacheFolder, useCompileCache } from '../../src/commands/compile-cache.ts'
import { run } from '../helpers/command.ts'

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

/** A home directory with folders, set in the environment. Its parents are trusted. */
function homeOf(t: Test, folders: readonly string[] = ['.cache']) {
  const top = realpathSync(t.testdir())
  const home = join(top, 'home')
  setVariable(t, 'HOME', home)
  setVariable(t, 'XDG_CACHE_HOME')
  mkdirSync(home, { mode: 0o755 })
  for (const folder of folders) mkdirSync(join(home, folder), { mode: 0o700 })
  return { top, home, find: (asUser: number | undefined = user) => compileCacheFolder(asUser, top) }
}

t.test('the cache is private and in the cache folder of the user', async (t) => {
  const { home, find } = homeOf(t)
  const folder = join(home, '.cache', 'plant-store')
  t.equal(find(), folder)
  t.equal(lstatSync(folder).mode & 0o777, 0o700)
  t.equal(find(), folder, 'an existing folder is reused')
})

t.test('a missing cache folder is created with private access', async (t) => {
  const { home, find } = homeOf(t, [])
  t.equal(find(), join(home, '.cache', 'plant-store'))
  t.equal(lstatSync(join(home, '.cache')).mode & 0o777, 0o700)
})

t.test('XDG_CACHE_HOME names another cache folder, unless it is relative', async (t) => {
  const { home, find } = homeOf(t, ['.cache', 'caches'])
  process.env.XDG_CACHE_HOME = join(home, 'caches')
  t.equal(find(), join(home, 'caches', 'plant-store'))
  process.env.XDG_CACHE_HOME = 'caches'
  t.equal(find(), join(home, '.cache', 'plant-store'))
})

t.test('the cache folder can be a symbolic link to another disk', async (t) => {
  const { home, find } = homeOf(t, ['disk'])
  symlinkSync('disk', join(home, '.cache'))
  t.equal(find(), join(home, 'disk', 'plant-store'))
})

/** Folders that another user could have prepared or could change later. */
const HOSTILE: [what: string, prepare: (home: string, top: string) => void][] = [
  [
    'a cache that is a symbolic link',
    (home) => {
      mkdirSync(join(home, 'theirs'), { mode: 0o700 })
      symlinkSync(join(home, 'theirs'), join(home, '.cache', 'plant-store'))
    },
  ],
  [
    'a cache that is a file',
    (home) => writeFileSync(join(home, '.cache', 'plant-store'), '', { mode: 0o600 }),
  ],
  ['a cache that the group can write to', (home) => makeCache(home, 0o770)],
  ['a cache that everyone can write to', (home) => makeCache(home, 0o707)],
  ['a cache that others can read', (home) => makeCache(home, 0o755)],
  ['a cache folder that the group can write to', (home) => chmodSync(join(home, '.cache'), 0o770)],
  [
    'a cache in a folder that everyone can write to, with the sticky bit',
    (home) => {
      makeCache(home, 0o700)
      chmodSync(join(home, '.cache'), 0o1777)
    },
  ],
  [
    'a home in which others could rename the cache folder',
    (home) => {
      makeCache(home, 0o700)
      chmodSync(home, 0o777)
    },
  ],
  [
    'a cache folder that links into a folder that everyone can write to',
    (home) => {
      renameSync(join(home, '.cache'), join(home, 'real'))
      mkdirSync(join(home, 'shared'))
      chmodSync(join(home, 'shared'), 0o777)
      mkdirSync(join(home, 'shared', 'caches'), { mode: 0o700 })
      symlinkSync('shared/caches', join(home, '.cache'))
    },
  ],
]
for (const [what, prepare] of HOSTILE) {
  t.test(`${what} is neither used nor changed`, async (t) => {
    const { home, top, find } = homeOf(t)
    prepare(home, top)
    const before = readdirSync(home, { recursive: true })
    t.equal(find(), undefined)
    t.same(readdirSync(home, { recursive: true }), before)
  })
}

function makeCache(home: string, mode: number): void {
  mkdirSync(join(home, '.cache', 'plant-store'))
  chmodSync(join(home, '.cache', 'plant-store'), mode)
}

t.test('the home of another user, as with sudo, is neither used nor changed', async (t) => {
  for (const folders of [[], ['.cache']]) {
    const { home, find } = homeOf(t, folders)
    t.equal(find(ANOTHER), undefined)
    t.same(readdirSync(home, { recursive: true }), folders)
    rmSync(home, { recursive: true })
  }
})

const notRoot = user !== 0 && 'only root can give a folder to another user'
for (const name of ['.', '.cache', '.cache/plant-store']) {
  t.test(`there is no cache if ${name} belongs to another user`, { skip: notRoot }, async (t) => {
    const { home, find } = homeOf(t)
    makeCache(home, 0o700)
    chownSync(join(home, name), ANOTHER, ANOTHER)
    t.equal(find(), undefined)
  })
}

t.test('a user without a home directory has no cache', async (t) => {
  const { home, find } = homeOf(t)
  for (const other of ['/', '/nonexistent', '', 'relative', join(home, 'missing')]) {
    process.env.HOME = other
    t.equal(find(), undefined, other)
    t.notOk(existsSync(join(other, '.cache', 'plant-store')), other)
  }
})

t.test('no cache is created in a shared temporary folder', async (t) => {
  const { home, find } = homeOf(t)
  const shared = join(home, 'tmp')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  for (const variables of [{ HOME: shared }, { XDG_CACHE_HOME: join(shared, 'caches') }]) {
    Object.assign(process.env, variables)
    t.equal(find(), undefined, Object.keys(variables).join())
  }
  t.same(readdirSync(shared), [])
})

t.test('there is no cache on Windows, which has no user ids', async (t) => {
  const { home } = homeOf(t)
  t.equal(compileCacheFolder(undefined), undefined)
  t.same(readdirSync(join(home, '.cache')), [])
})

/** Runs the command with the test's own home and temporary folder. */
function commandOf(t: Test) {
  const { home } = homeOf(t, ['.cache', 'tmp', 'other'])
  const env = { HOME: home, TMPDIR: join(home, 'tmp'), XDG_CACHE_HOME: '' }
  return {
    runs: async (variables: NodeJS.ProcessEnv, measured = false) => {
      const finished = await run(t, ['--version'], { env: { ...env, ...variables }, measured })
      t.match(finished, { code: 0, stderr: '' })
    },
    entries: (...path: string[]) => readdirSync(join(home, ...path)),
    other: join(home, 'other'),
  }
}

t.test(
  'the command caches compiled code in the home directory, not in the temporary folder',
  async (t) => {
    const { runs, entries } = commandOf(t)
    // There is no cache if others can write to a parent of this folder.
    const kept = compileCacheFolder(user) === undefined ? 0 : 1
    await runs({})
    t.equal(entries('.cache').length && entries('.cache', 'plant-store').length, kept)
    t.same(entries('tmp'), [])
  },
)

t.test('the command works without a home directory', async (t) => {
  const { runs, entries } = commandOf(t)
  await runs({ HOME: '/nonexistent' })
  t.same([...entries('.cache'), ...entries('tmp')], [])
})

t.test('the operator can choose another folder or turn the cache off', async (t) => {
  const { runs, entries, other } = commandOf(t)
  await runs({ NODE_COMPILE_CACHE: other })
  t.equal(entries('other').length, 1)
  await runs({ NODE_DISABLE_COMPILE_CACHE: '1' }, true)
  t.same([...entries('.cache'), ...entries('tmp')], [])
})

t.test('a process keeps using the first cache folder it found', async (t) => {
  const { home, top } = homeOf(t)
  const folder = join(home, '.cache', 'plant-store')
  setVariable(t, 'NODE_COMPILE_CACHE')
  setVariable(t, 'NODE_DISABLE_COMPILE_CACHE', '1')
  useCompileCache(top)
  t.notOk(existsSync(folder), 'the cache is turned off')
  setVariable(t, 'NODE_DISABLE_COMPILE_CACHE')
  process.env.HOME = '/nonexistent'
  useCompileCache(top)
  t.equal(getCompileCacheDir(), undefined, 'there is no home directory')
  process.env.HOME = home
  useCompileCache(top)
  t.equal(dirname(getCompileCacheDir() ?? ''), folder)
  t.equal(dirname(await cacheOfThread()), folder, 'worker threads use it too')
  process.env.HOME = '/nonexistent'
  useCompileCache(top)
  t.equal(dirname(getCompileCacheDir() ?? ''), folder)
})

/** The compile cache of a new worker thread. */
async function cacheOfThread(): Promise<string> {
  const script = `const { parentPort } = require('node:worker_threads')
    parentPort.postMessage(require('node:module').getCompileCacheDir())`
  const [folder] = await once(new Worker(script, { eval: true }), 'message')
  return String(folder)
}
