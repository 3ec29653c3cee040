import { readFileSync } from 'node:fs'
import t from 'tap'

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
