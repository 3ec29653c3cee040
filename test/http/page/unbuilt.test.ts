/** A service whose page is not built, as in a checkout without its development dependencies. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createPlant } from '../../helpers/client.ts'
import { Command } from '../../helpers/command.ts'

const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url))
const FOLDERS = ['bin', 'client', 'contract', 'formats', 'service', 'src', 'time']
const SOURCES = [...FOLDERS, 'openapi.yaml', 'package.json']
const TOKEN = 'sixteen-letters.'

t.test('a service without a built page says how to build it, and otherwise works', async (t) => {
  const modules = t.fixture('symlink', join(CHECKOUT, 'node_modules'))
  const folder = t.testdir({ node_modules: modules })
  const copy = (path: string) =>
    cpSync(join(CHECKOUT, path), join(folder, path), { recursive: true })
  for (const path of SOURCES) copy(path)
  const service = new Command(t, ['--port=0', '--database', ':memory:'], {
    main: join(folder, 'bin/plant-store.js'),
    env: { PLANT_STORE_TOKEN: TOKEN },
  })
  const url = await service.listening()
  const open = (path = '') => fetch(url + path, { headers: { accept: 'text/html' } })

  const notBuilt = 'not built: run npm ci, then npm run page'
  t.match(service.stdout, `\n  page      ${notBuilt}\n`)
  for (const path of ['', '/page/main.js']) {
    const answer = await open(path)
    t.equal(answer.status, 404)
    t.strictSame(await answer.json(), { error: 40401, message: `the page is ${notBuilt}` })
  }
  const guide = await open('/documentation/guides/changes')
  t.equal(guide.status, 404)
  const message = `the guides are ${notBuilt}`
  t.strictSame(await guide.json(), { error: 40401, message })
  t.match((await fetch(url)).url, '/documentation')
  t.equal((await createPlant(url, TOKEN, { id: 4, name: 'Abies alba Mill.' })).status, 200)

  for (const folder of ['dist/page', 'dist/guides']) copy(folder)
  t.match(await (await open()).text(), 'page/main.js', 'needs no restart once it is built')
  t.match(await (await open('/documentation/guides/changes')).text(), 'The change feed')
})
