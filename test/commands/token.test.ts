import { join } from 'node:path'
import t, { type Test } from 'tap'
import { TokenStore } from '../../service/token-store.ts'
import { AccessTokens } from '../../src/auth/access-tokens.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { useStore } from './use-store.ts'

const SECRET = /plant_[\w-]{43}/

/** Runs `plant-store token …` on a new database. */
function commandsOf(t: Test) {
  const database = join(t.testdir(), 'plants.db')
  const token = (...args: string[]) => runHere(['token', ...args, '--database', database])
  const create = async (...args: string[]) =>
    (await token('create', '--create', ...args)).stdout.trim()
  return { database, token, create }
}

t.test(
  'tokens are shown once, listed without secrets, and limited by scope and time',
  async (t) => {
    const { database, token, create } = commandsOf(t)
    const options = ['--scope', 'write,read', '--expires', '90d', '--create']
    const first = await token('create', '--name', 'ci', ...options)
    t.equal(first.code, 0)
    t.match(first.stdout, new RegExp(`^${SECRET.source}\n$`), 'standard output has nothing else')
    t.equal(
      first.stderr,
      `Created the token ci in ${database}. It has the read and write scopes. Keep it safe: it is not shown again.\n`,
    )
    const reader = await token('create', '--name', 'a.reader')
    t.match(reader.stderr, /It has the read scope\. /, 'by default')
    const gone = await create('--name', 'gone', '--expires', '1ms')
    const secrets = [first.stdout.trim(), reader.stdout.trim(), gone]
    const verifyAll = () =>
      useStore(database, async (store) => {
        const tokens = new AccessTokens(new TokenStore(store))
        return Promise.all(secrets.map((secret) => tokens.verify(secret)))
      })
    const readOnly = { name: 'a.reader', scopes: ['read'] }
    t.match(await verifyAll(), [{ scopes: ['read', 'write'] }, readOnly, undefined])
    const { stdout } = await token('list')
    t.notMatch(stdout, SECRET)
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/))
    const minute = /^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/
    t.match(rows, [
      ['NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED'],
      ['a.reader', 'read', minute, 'never', minute],
      ['ci', 'read,write', minute, minute, minute],
      ['gone', 'read', minute, /Z \(expired\)$/, 'never'],
      [''],
    ])
    const [, , created = '', expires = ''] = rows[2] ?? []
    t.equal(Date.parse(expires) - Date.parse(created), 90 * 24 * 60 * 60 * 1000)

    const revoked = { code: 0, stdout: `revoked ci in ${database}\n`, stderr: '' }
    t.strictSame(await token('revoke', 'ci'), revoked)
    t.match(await verifyAll(), [undefined, readOnly, undefined])
  },
)

t.test('a failed command prints one line and changes nothing', async (t) => {
  const { token, create } = commandsOf(t)
  await create('--name', 'taken', '--scope', 'read')
  const before = await token('list')
  const cases = [
    { args: ['create', '--name', 'taken'], says: 'token taken already exists' },
    { args: ['revoke', 'unknown'], says: 'token unknown does not exist' },
  ]
  for (const { args, says } of cases) {
    const stderr = `plant-store: ${says}\n`
    t.match(await token(...args), { code: 1, stdout: '', stderr }, args.join(' '))
  }
  t.same(await token('list'), before)
})
