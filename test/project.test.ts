import { readFileSync } from 'node:fs'
import t from 'tap'

const lock = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')

t.test('an installation compiles nothing', async (t) => {
  // npm drops better-sqlite3's `gypfile: false` when it writes the lockfile, and would then compile the
  // sources that ship next to the binaries. `allowScripts` prevents that in npm 11, but npm 10 needs the line
  // in the lockfile. If this fails after an `npm install`, add the line again.
  t.equal(JSON.parse(lock).packages['node_modules/better-sqlite3'].gypfile, false)
})

t.test('the lockfile contains no download URLs', async (t) => {
  t.notMatch(lock, /"resolved": "http/)
})
