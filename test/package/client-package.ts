/**
 * Installs the packed client in an empty project, on each version of Node, and uses it there, in a browser and in
 * TypeScript. Downloads Node, so only `npm run test:package` runs it.
 */
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { findBrowser, launch } from '../../tools/browser/chromium.ts'
import { packClient } from '../../tools/release/client-package.ts'
import { startService } from '../helpers/service/service.ts'
import { CHECKOUT, emptyFolder, fetchNode, Tools } from './installation.ts'

const VERSIONS = ['22', '24', '26']

const UNPACKED_BYTES_MAX = 65_000

/** Uses most of what the client exports. */
const PROGRAM = `
import {
  type AccessToken, BatchError, type BatchResult, type CallOptions, type Change, type ChangeCounts, type ChangePage,
  type ChangeQuery, type ClientOptions, ConnectionError, type CountQuery, createClient, type ErrorCode,
  type FollowOptions, isPlantStoreError, type NewPlant, type Page, parseJson, type Plant, type PlantChange,
  type PlantCount, type PlantPatch, type PlantQuery, type PlantsQuery, type PlantStoreClient, PlantStoreError,
  type ReadOptions, type ReplacedPlant, ServiceError, type StoredPlant, type TaggedPlant, type TagPage, type TagQuery,
  toJson, UnexpectedResponseError, UnknownOutcomeError, type WriteOptions,
} from 'plant-store-client'

const LARGEST = 2n ** 63n - 1n

export async function run(url: string, token: string): Promise<string> {
  const options: ClientOptions = { url, token, retries: 0 }
  const store: PlantStoreClient = createClient(options)
  const once: CallOptions = { signal: AbortSignal.timeout(60_000) }
  const fir: NewPlant = { id: LARGEST, name: 'Abies alba Mill.', tag: 'Tree' }
  const created: { plant: Plant } = await store.createPlant(fir, once)
  const batch: BatchResult = await store.createPlants([{ id: 1n, name: 'Acer' }, { id: 2n, name: 'Pinus' }])
  const read: TaggedPlant = await store.getPlant(LARGEST)
  const known: ReadOptions = { ifNoneMatch: read.etag }
  const unchanged: TaggedPlant | undefined = await store.getPlant(LARGEST, known)
  const query: PlantQuery = { limit: 1, tag: 'Tree' }
  const page: Page = await store.listPlants(query)
  const filter: CountQuery = { untagged: true }
  const count: PlantCount = await store.countPlants(filter)
  const tagQuery: TagQuery = { limit: 10 }
  const tags: TagPage = await store.listTags(tagQuery)
  const patch: PlantPatch = { tag: null }
  const ifUnchanged: WriteOptions = { ifMatch: read.etag }
  const updated = await store.updatePlant(LARGEST, patch, ifUnchanged)
  const replaced: ReplacedPlant = await store.replacePlant(1n, { name: 'Acer rubrum L.' })
  const list: PlantChange[] = [{ op: 'update', id: 1n, tag: 'Tree' }, { op: 'remove', id: 2n }]
  const counts: ChangeCounts = await store.changePlants(list)
  const inParts: ChangeCounts = await store.changePlantsInParts([{ op: 'remove', id: 3n }], { retries: 1, timeout: 60_000 })
  const all: PlantsQuery = { pageSize: 1 }
  const plants: StoredPlant[] = []
  for await (const plant of store.plants(all)) plants.push(plant)
  const changeQuery: ChangeQuery = { limit: 1 }
  const changePage: ChangePage = await store.listChanges(changeQuery)
  const follow: FollowOptions = { after: changePage.cursor }
  const changes: string[] = []
  for await (const change of store.changes(follow)) {
    const { type, id, plant }: Change = change
    changes.push(type + ' ' + id + ': ' + plant?.name)
    if (type === 'removed') break
  }
  const { scopes }: AccessToken = await store.getToken()
  await store.deletePlant(1n)
  const missing = await store.getPlant(1n).catch(conditionOf)
  const taken = await store.createPlants([{ ...fir, name: 'Pinus' }]).catch(conditionOf)
  const isSame = (parseJson(toJson(fir)) as StoredPlant).id === LARGEST
  return toJson({
    created: created.plant, batch, tag: read.plant.tag, isKnown: unchanged === undefined, found: page.plants, count,
    tags: tags.tags, name: updated.plant.name, replaced: replaced.plant, counts, inParts, plants, changes, scopes, missing,
    taken, isSame,
  })
}

function conditionOf(error: unknown): ErrorCode | undefined {
  if (!(isPlantStoreError(error) && error instanceof PlantStoreError)) return undefined
  if (error instanceof BatchError) return conditionOf(error.cause)
  const isOther = [ConnectionError, UnexpectedResponseError, UnknownOutcomeError].some((type) => error instanceof type)
  return error instanceof ServiceError && !isOther ? error.condition : undefined
}

interface Tree extends Plant {
  height?: number
}

export async function measure(trees: PlantStoreClient<Tree>): Promise<number | undefined> {
  await trees.updatePlant(4n, { height: null })
  // @ts-expect-error a number
  await trees.createPlant({ id: 4n, name: 'Abies', height: '1' })
  // @ts-expect-error a bigint
  await trees.getPlant(4)
  return (await trees.getPlant(4n)).plant.height
}
`

const RESULT =
  '{"created":{"name":"Abies alba Mill.","tag":"Tree"},"batch":{"created":2,"unchanged":0},"tag":"Tree","isKnown":true,' +
  '"found":[{"id":9223372036854775807,"name":"Abies alba Mill.","tag":"Tree"}],"count":{"plants":2,"isExact":true},' +
  '"tags":["Tree"],"name":"Abies alba Mill.","replaced":{"id":1,"name":"Acer rubrum L."},' +
  '"counts":{"created":0,"changed":1,"removed":1,"unchanged":0},' +
  '"inParts":{"created":0,"changed":0,"removed":0,"unchanged":1},"plants":[{"id":1,"name":"Acer rubrum L.","tag":"Tree"},' +
  '{"id":9223372036854775807,"name":"Abies alba Mill."}],"changes":["created 1: Acer","created 2: Pinus",' +
  '"changed 9223372036854775807: Abies alba Mill.","changed 1: Acer rubrum L.","changed 1: Acer rubrum L.",' +
  '"removed 2: undefined"],"scopes":["read","write"],"missing":"plant-not-found","taken":"plant-exists","isSame":true}'

const compilerOptions = { target: ts.ScriptTarget.ES2022 }
const SCRIPT = ts.transpileModule(PROGRAM, { compilerOptions }).outputText

const folder = emptyFolder(t)
const packed = await packClient(folder)

/** Installs the client in an empty project. Returns its folder. */
async function install(tools: Tools, name: string): Promise<string> {
  const project = join(folder, name)
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}')
  await tools.run(project, 'npm', 'install', packed)
  return project
}

for (const version of VERSIONS) {
  t.test(`the client works on Node ${version}`, async (t) => {
    const tools = new Tools(await fetchNode(folder, version), folder)
    t.match(await tools.run(folder, 'node', '--version'), `v${version}.`)
    const project = await install(tools, `project-${version}`)
    writeFileSync(join(project, 'program.js'), SCRIPT)
    const { url, token } = await startService(t)
    const program = `console.log(await (await import('./program.js')).run('${url}', '${token}'))`
    const args = ['--input-type=module', '--eval', program]
    t.equal(await tools.run(project, 'node', ...args), `${RESULT}\n`)
  })
}

t.test('what is installed', async (t) => {
  const project = await install(new Tools(process.execPath, folder), 'project')
  const modules = join(project, 'node_modules')
  const content = join(modules, 'plant-store-client')

  t.test('it is one package, with a module, its types and documents', async (t) => {
    const { version } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'))
    t.equal(basename(packed), `plant-store-client-${version}.tgz`)
    t.same(readdirSync(modules).sort(), ['.package-lock.json', 'plant-store-client'])
    const files = ['LICENSE', 'README.md', 'client.d.ts', 'client.js', 'package.json']
    t.same(readdirSync(content).sort(), files)
    const manifest = JSON.parse(readFileSync(join(content, 'package.json'), 'utf8'))
    t.match(manifest, { name: 'plant-store-client', version, license: 'MIT', type: 'module' })
    t.notOk('dependencies' in manifest)
    const bytes = files.reduce((sum, file) => sum + statSync(join(content, file)).size, 0)
    t.comment(`${statSync(packed).size} bytes packed, ${bytes} unpacked`)
    t.ok(bytes <= UNPACKED_BYTES_MAX)
  })

  // A program for browsers has no types of Node.
  const dom = { lib: ['es2022', 'dom'], types: [] }
  const typeRoots = [join(CHECKOUT, 'node_modules/@types')]
  const node = { lib: ['es2024', 'esnext.disposable'], types: ['node'], typeRoots }
  for (const { resolution, options } of [
    { resolution: 'bundler', options: { module: 'esnext', moduleResolution: 'bundler', ...dom } },
    { resolution: 'nodenext', options: { module: 'nodenext', ...node } },
  ]) {
    t.test(`its types compile with ${resolution}`, async (t) => {
      writeFileSync(join(project, 'program.ts'), PROGRAM)
      const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false }
      const compilerOptions = { ...options, ...strict, target: 'es2022', noEmit: true }
      const config = { compilerOptions, files: ['program.ts'] }
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config))
      const tools = new Tools(process.execPath, folder)
      const compiler = join(CHECKOUT, 'node_modules/typescript/bin/tsc')
      t.equal(await tools.run(project, 'node', compiler).catch(({ stdout }) => stdout), '')
    })
  }

  const browser = findBrowser()
  const skip = browser === undefined && 'requires a browser'
  t.test('it works in a browser', { skip }, async (t) => {
    const origin = await serveApp(t, join(content, 'client.js'))
    const { url, token } = await startService(t, { config: { corsOrigin: [origin] } })
    const chromium = await launch(String(browser))
    t.teardown(() => chromium.close())
    const page = await chromium.newPage()
    await page.goto(origin)
    const script = `import('/program.js').then(({ run }) => run('${url}', '${token}'))`
    t.equal(await page.evaluate(script), RESULT)
  })
})

/** Serves a page that can import the program and the client. Resolves to its origin. */
async function serveApp(t: Test, client: string): Promise<string> {
  const imports = '{"imports": {"plant-store-client": "/client.js"}}'
  const page = `<!doctype html><script type="importmap">${imports}</script>`
  const scripts = new Map([
    ['/client.js', readFileSync(client, 'utf8')],
    ['/program.js', SCRIPT],
  ])
  const server = createServer(({ url = '' }, response) => {
    const script = scripts.get(url)
    const type = script === undefined ? 'text/html' : 'text/javascript'
    response.setHeader('content-type', type).end(script ?? page)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
