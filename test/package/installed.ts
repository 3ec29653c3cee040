/**
 * Installs the packed package in an empty project, on each version of Node and without a compiler. Downloads the
 * dependencies and Node, so only `npm run test:package` runs it.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bundleClient } from '../../tools/build/client-bundle.ts'
import { declareClient } from '../../tools/build/client-declarations.ts'
import { createPlant } from '../helpers/service/client.ts'
import {
  CHECKOUT,
  checkPage,
  emptyFolder,
  fetchNode,
  pack,
  startService,
  TOKEN,
  Tools,
} from './installation.ts'

const NEWEST = '26'
const VERSIONS = ['22', '24', NEWEST]

const folder = emptyFolder(t)
const packed = await pack(folder)
const { filename, size, unpackedSize, files } = packed
t.comment(`packed ${size} bytes, unpacked ${unpackedSize}, ${files.length} files`)

t.test('the package contains the built files and nothing else', async (t) => {
  const sources = globSync('{src,core,service}/**/*.ts', { cwd: CHECKOUT })
  const built = sources
    .filter((file) => !file.endsWith('.d.ts'))
    .map((file) => file.replace(/\.ts$/, ''))
    .flatMap((name) => [`dist/${name}.js`, `dist/${name}.d.ts`])
  const assets = globSync('src/**/*.{css,svg}', { cwd: CHECKOUT }).map((file) => `dist/${file}`)
  // Packing has built it.
  const page = globSync('dist/{guides,page}/*', { cwd: CHECKOUT })
  for (const file of ['guides/index.html', 'page/main.js']) t.ok(page.includes(`dist/${file}`))
  const documents = globSync(
    [
      '{CHANGELOG,README}.md',
      'tools/bench/{README.md,results/*.svg}',
      'data/{nursery.*,sample.csv}',
      'deploy/{*.service,*/*}',
      'docs/*.{http,md}',
      'docs/{*.svg,nursery.png,page*.png}',
      'test/fixtures/interface-1.0.0.yaml',
    ],
    { cwd: CHECKOUT },
  )
  const others = [
    'LICENSE',
    'dist/client/client.d.ts',
    'dist/client/client.js',
    'bin/compile-cache.d.ts',
    'bin/compile-cache.js',
    'bin/node-version.d.ts',
    'bin/node-version.js',
    'bin/plant-store.js',
    'openapi.yaml',
    'package.json',
  ]
  const expected = [...built, ...assets, ...page, ...documents, ...others]
  t.strictSame(files.map(({ path }) => path).sort(), expected.sort())
})

t.test('its client is the same code as plant-store-client', async (t) => {
  const built = (name: string) => readFileSync(join(CHECKOUT, 'dist/client', name), 'utf8')
  t.equal(built('client.js'), await bundleClient())
  t.equal(built('client.d.ts'), declareClient())
})

for (const version of VERSIONS) {
  t.test(`the package works on Node ${version}`, async (t) => {
    const tools = new Tools(await fetchNode(folder, version), folder)
    const project = join(folder, `project-${version}`)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}')
    await tools.run(project, 'npm', 'install', join(folder, filename))
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
    const dependencies = Object.keys(lock.packages).length - 2
    t.comment(`${await tools.run(project, 'node', '--version')} ${dependencies} dependencies`)

    await t.test('an install compiles nothing, even from a lockfile', async (t) => {
      // npm does not record in a lockfile that better-sqlite3 needs no compiler, and would compile it.
      await tools.run(project, 'npm', 'ci', '--ignore-scripts')
      t.notOk(existsSync(join(project, 'node_modules/better-sqlite3/build')))
    })
    await t.test('it stores plants in memory and in a file', (t) => testService(t, tools, project))
    await t.test('its other commands work', (t) => testCommands(t, tools, project))
    await t.test('it can be imported, as can its client', (t) => testImports(t, tools, project))
    if (version === NEWEST)
      await t.test('its types are complete', (t) => testTypes(t, tools, project))
  })
}

t.test('Node 20 gets one line that names the version it needs', async (t) => {
  const tools = new Tools(await fetchNode(folder, '20'), folder)
  const project = join(folder, 'project-20')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}')
  const newest = new Tools(process.execPath, folder)
  await newest.run(project, 'npm', 'install', '--ignore-scripts', join(folder, filename))
  const failure = await tools
    .run(project, 'node', 'node_modules/plant-store/bin/plant-store.js')
    .then(
      () => undefined,
      (error: { stderr: string }) => error.stderr,
    )
  const says = /^plant-store: Node 22\.18 or later is required, but this is Node 20\.[\d.]+\n$/
  t.match(failure, says)
  const script = "await import('plant-store').catch(({ message }) => console.log(message))"
  t.match(await tools.run(project, 'node', '--eval', script), /^plant-store: Node 22\.18 or later/)
})

const COMMAND = 'node_modules/.bin/plant-store'

async function testService(t: Test, tools: Tools, project: string): Promise<void> {
  writeFileSync(join(project, 'seed.ndjson'), '{"id":4,"name":"Abies alba Mill."}\n')
  for (const database of [':memory:', 'plants.db']) {
    const args = [COMMAND, '--database', database, '--seed', 'seed.ndjson']
    const { url, stop } = await startService(t, tools, project, args)
    t.equal((await createPlant(url, TOKEN, { id: 1, name: database })).status, 200)
    t.equal((await createPlant(url, TOKEN, { id: 4, name: 'another' })).status, 409)
    for (const path of ['/documentation/', '/documentation/guides/changes']) {
      t.equal((await fetch(url + path)).status, 200, path)
    }
    await checkPage(t, url)
    await stop()
  }
  t.notOk(existsSync(join(project, 'plants.db-wal')))
}

async function testCommands(t: Test, tools: Tools, project: string): Promise<void> {
  const says = (...args: string[]) => tools.run(project, 'npx', 'plant-store', ...args)
  const database = ['--database', 'plants.db']
  const csv = 'id,name,tag\n1,plants.db,\n4,Abies alba Mill.,\n'
  t.equal(await says('export', '--format', 'csv', ...database), csv)
  writeFileSync(join(project, 'more.csv'), 'id,name\n1,plants.db\n5,Pinus mugo Turra\n')
  t.match(await says('import', 'more.csv', ...database), /^created 1\nreplayed 1 \(.*\)\n/)
  t.match(await says('backup', 'backup.db', ...database), 'backup.db: 3 plants')
  t.match(await says('check', '--database', 'backup.db'), /^(ok .*\n)+$/)
  t.match(await says('token', 'create', '--name', 'x', ...database), /^plant_[\w-]{43}\n$/)
  t.match(await says('--version'), /^\d+\.\d+\.\d+\n$/)
}

/** Valid TypeScript and valid JavaScript. */
const USE = `
import { readFileSync } from 'node:fs'
import { startPlantStore } from 'plant-store'
import { createClient } from 'plant-store/client'

const { url, token, close } = await startPlantStore({ seed: [{ id: 2n ** 63n - 1n, name: 'a' }] })
const plants = createClient({ url, token })
await plants.createPlant({ id: 4n, name: 'Abies alba Mill.', tag: 'Tree' })
for await (const { id, name } of plants.plants()) console.log(id, name)
await close()
console.log(readFileSync(new URL(import.meta.resolve('plant-store/openapi.yaml')), 'utf8').slice(0, 8))
`

async function testImports(t: Test, tools: Tools, project: string): Promise<void> {
  writeFileSync(join(project, 'use.js'), USE)
  const said = `4n Abies alba Mill.\n${2n ** 63n - 1n}n a\nopenapi:\n`
  t.equal(await tools.run(project, 'node', 'use.js'), said)
}

const COMPILER_OPTIONS = {
  module: 'nodenext',
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
  types: ['node'],
  typeRoots: [join(CHECKOUT, 'node_modules/@types')],
}

async function testTypes(t: Test, tools: Tools, project: string): Promise<void> {
  writeFileSync(join(project, 'use.ts'), USE)
  const config = { compilerOptions: COMPILER_OPTIONS, files: ['use.ts'] }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config))
  t.equal(await tools.run(project, 'node', join(CHECKOUT, 'node_modules/.bin/tsc')), '')
}
