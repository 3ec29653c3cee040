import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { ALONE, filesByProcess } from './helpers/test-processes.ts'

const lock = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')

t.test('an install compiles nothing', async (t) => {
  // better-sqlite3 says `gypfile: false` of itself, but npm forgets that when it writes the lock
  // file, and then takes the sources beside the binaries for something to build. npm 11 is told so
  // by `allowScripts`; for npm 10 the line has to stand in the lock file. Add it again after an
  // `npm install` has dropped it.
  t.equal(JSON.parse(lock).packages['node_modules/better-sqlite3'].gypfile, false)
})

t.test('the lock file holds no download addresses', async (t) => {
  t.notMatch(lock, /"resolved": "http/)
})

t.test('npm test runs every test file once', async (t) => {
  const { include } = parse(readFileSync(new URL('../.taprc', import.meta.url), 'utf8'))
  t.same(include, ['test/processes/*.ts', ...ALONE.map((file) => `test/${file}`)])
  const processes = filesByProcess()
  const folder = new URL('./processes/', import.meta.url)
  t.same(
    readdirSync(folder).sort(),
    [...processes.keys()].map((name) => `${name}.ts`).sort(),
    'test/processes/ has one file for each process',
  )
  for (const [name, files] of processes) t.ok(files.length > 0, `${name} has files to run`)
})
