/** Installs copies of this checkout as the README says. Downloads everything, so only `npm run test:package` runs it. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createPlant } from '../helpers/client.ts'
import { CHECKOUT, checkPage, emptyFolder, startService, TOKEN, Tools } from './installation.ts'

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

t.test('npm ci && npm start serves the page, as does npm prune --omit=dev', async (t) => {
  const checkout = copyCheckout()
  for (const args of [['ci'], ['prune', '--omit=dev']]) {
    await tools.run(checkout, 'npm', ...args)
    const { url, stop } = await startService(t, tools, checkout, START)
    await checkPage(t, url)
    await stop()
  }
  t.notOk(existsSync(join(checkout, 'node_modules/esbuild')))
})

t.test('npm ci --omit=dev && npm start runs the service without the page', async (t) => {
  const checkout = copyCheckout()
  await tools.run(checkout, 'npm', 'ci', '--omit=dev')
  const { url, stop } = await startService(t, tools, checkout, START)
  t.equal((await fetch(url, { headers: { accept: 'text/html' } })).status, 404)
  t.equal((await createPlant(url, TOKEN, { id: 4, name: 'Abies alba Mill.' })).status, 200)
  await stop()
})
