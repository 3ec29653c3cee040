/** Installs copies of this checkout as the README says. Downloads everything, so only `npm run test:package` runs it. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createPlant } from '../helpers/service/client.ts'
import {
  CHECKOUT,
  checkPage,
  emptyFolder,
  fetchNode,
  startService,
  TOKEN,
  Tools,
} from './installation.ts'

const START = ['npm', 'start', '--silent', '--']

const folder = emptyFolder(t)
const tools = new Tools(process.execPath, folder)

/** Copies what git would commit. */
function copyCheckout(): string {
  const copy = mkdtempSync(join(folder, 'checkout-'))
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const files = execFileSync('git', args, { cwd: CHECKOUT, encoding: 'utf8' }).split('\0')
  for (const file of files.filter((file) => file !== '' && existsSync(join(CHECKOUT, file)))) {
    cpSync(join(CHECKOUT, file), join(copy, file))
  }
  return copy
}

t.test('a checkout installed with Node 20', async (t) => {
  const node20 = new Tools(await fetchNode(folder, '20'), folder)
  const checkout = copyCheckout()

  await t.test('npm ci prints no warnings, but which Node to use', async (t) => {
    const printed = await node20.run(checkout, 'sh', '-c', 'npm ci 2>&1')
    const warnings = printed.split('\n').filter((line) => /\bwarn\b|Node \d/.test(line))
    t.match(warnings, [/^plant-store: Node 22\.18 or later is required.* which run Node 26/])
    t.equal(warnings.length, 1)
  })

  await t.test('npm start serves the page', async (t) => {
    const { url, stop } = await startService(t, node20, checkout, START)
    await checkPage(t, url)
    await stop()
  })

  await t.test('npm test works in a copy of the checkout', async (t) => {
    const copy = join(folder, 'copy')
    cpSync(checkout, copy, { recursive: true, verbatimSymlinks: true })
    const test = ['test/core/time/shared-runs.test.ts', '--disable-coverage', '--reporter=tap']
    t.match(await node20.run(copy, 'npm', 'test', '--', ...test), /^ok 1 - test\/core\/time/m)
  })

  await t.test('npm ci installs less than 450 MB', async (t) => {
    const du = execFileSync('du', ['-sm', 'node_modules'], { cwd: checkout, encoding: 'utf8' })
    t.ok(Number.parseInt(du, 10) < 450, du)
  })

  await t.test('npm prune --omit=dev keeps the page', async (t) => {
    await tools.run(checkout, 'npm', 'prune', '--omit=dev')
    t.notOk(existsSync(join(checkout, 'node_modules/esbuild')))
    const { url, stop } = await startService(t, tools, checkout, START)
    await checkPage(t, url)
    await stop()
  })
})

t.test('npm ci --omit=dev && npm start runs the service without the page', async (t) => {
  const checkout = copyCheckout()
  t.notMatch(await tools.run(checkout, 'npm', 'ci', '--omit=dev'), /Node \d/)
  const { url, stop } = await startService(t, tools, checkout, START)
  t.equal((await fetch(url, { headers: { accept: 'text/html' } })).status, 404)
  t.equal((await createPlant(url, TOKEN, { id: 4, name: 'Abies alba Mill.' })).status, 200)
  await stop()
})

t.test('npm audit finds nothing', async (t) => {
  const failure = await tools.run(CHECKOUT, 'npm', 'run', 'audit').then(
    () => '',
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  )
  const isOffline = /audit endpoint returned an error|ENOTFOUND/.test(failure)
  t.equal(failure, '', { skip: isOffline && 'the registry or sigstore.dev cannot be reached' })
})
