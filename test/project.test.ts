import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { groupFiles } from '../tools/tap/test-processes.ts'

const PROJECT = new URL('..', import.meta.url)

const read = (file: string): string => readFileSync(new URL(file, PROJECT), 'utf8')

const lock = read('package-lock.json')

t.test('an installation compiles nothing', async (t) => {
  // npm drops better-sqlite3's `gypfile: false` when it writes the lockfile, and would then compile the
  // sources that ship next to the binaries. `allowScripts` prevents that in npm 11, but npm 10 needs the line
  // in the lockfile. If this fails after an `npm install`, add the line again.
  t.equal(JSON.parse(lock).packages['node_modules/better-sqlite3'].gypfile, false)
})

t.test(
  'an installation of the package runs no scripts of it, and npm warns about none',
  async (t) => {
    const { scripts } = JSON.parse(read('package.json'))
    const names = ['preinstall', 'install', 'postinstall', 'prepare']
    t.same(
      names.filter((name) => name in scripts),
      [],
    )
  },
)

t.test('the lockfiles contain no download URLs', async (t) => {
  const others = ['tools/lint', 'tools/bench/peers', 'test/third-party-tools/clients']
  for (const each of [lock, ...others.map((folder) => read(`${folder}/package-lock.json`))])
    t.notMatch(each, /"resolved": "http/)
})

interface Job {
  readonly uses?: string
  readonly steps?: readonly { readonly uses?: string; readonly with?: object }[]
}

t.test('workflows pin actions, have few permissions and keep no credentials', async (t) => {
  for (const file of globSync('.github/workflows/*', { cwd: PROJECT })) {
    const { permissions, jobs } = parse(read(file))
    t.notMatch(
      JSON.stringify(permissions ?? 'write-all'),
      /write/,
      `${file} starts without write permissions`,
    )
    for (const job of Object.values<Job>(jobs)) {
      const steps = [job, ...(job.steps ?? [])].filter(({ uses = './' }) => !uses.startsWith('./'))
      for (const { uses, with: inputs } of steps as NonNullable<Job['steps']>) {
        t.match(uses, /@[0-9a-f]{40}$/, `${file} pins ${uses}`)
        if (uses?.startsWith('actions/checkout@')) t.match(inputs, { 'persist-credentials': false })
      }
    }
  }
})

t.test('only the version in package.json can be released, with what changed in it', async (t) => {
  const notes = (tag: string) =>
    execFileSync(process.execPath, ['tools/release/notes.ts', tag], {
      cwd: PROJECT,
      stdio: 'pipe',
    })
  const { version } = JSON.parse(read('package.json'))
  t.match(String(notes(`v${version}`)), /^- /m)
  t.throws(() => notes(`${version}`), /the tag is/)
})

t.test('npm test and npm run test:system run every test file once', async (t) => {
  for (const kind of ['test', 'system']) {
    const groups = groupFiles(`**/*.${kind}.ts`, 5)
    t.same(groups.flat().sort(), globSync(`**/*.${kind}.ts`, { cwd: 'test' }).sort())
    t.ok(groups.length > 5)
  }
})
