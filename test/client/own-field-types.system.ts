/** Programs with types that are generated from the document of a service with own fields. */
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import t from 'tap'
import ts from 'typescript'
import { declareClient } from '../../tools/build/client-declarations.ts'
import { makeFolder } from '../../tools/tap/temporary-folders.ts'
import { nursery } from '../helpers/plants/nursery.ts'
import { type Service, startService } from '../helpers/service/service.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const OPENAPI_FETCH = import.meta.resolve('openapi-fetch')

const INTERFACE = new URL('../fixtures/interface-1.0.0.yaml', import.meta.url)

/** A program without casts, and with the errors that TypeScript must report. */
const PROGRAM = `
import { type Change, createClient, type FieldFilter, type NewPlant, type PlantPatch, type PlantStoreClient } from 'plant-store/client'
import type { components } from './plants.ts'

declare const url: string
declare const token: string

type Generated = components['schemas']['Plant']
const store = createClient<Generated>({ url, token })

const plant: NewPlant<Generated> = { id: 4n, name: 'Abies', height: 120, light: 'sun', inStock: true }
const created: { plant: Generated } = await store.createPlant(plant)
const light: 'sun' | 'half shade' | 'shade' | undefined = created.plant.light
await store.createPlants([plant, { id: 5n, name: 'Acer', price: 24.5 }])
await store.changePlants([
  { op: 'create', id: 6n, name: 'Acer', planted: '2026-11-25' },
  { op: 'replace', id: 5n, name: 'Acer', height: 90, ifMatch: '"x"' },
  { op: 'update', id: 4n, light: null, height: 121, tag: null },
  { op: 'remove', id: 7n },
])
const { plant: stored, etag } = await store.getPlant(4n)
const id: bigint = stored.id
const { id: _id, height = 0, ...rest } = stored
await store.replacePlant(4n, { ...stored, height: height + 1 }, { ifMatch: etag })
await store.replacePlant(4n, rest)
const patch: PlantPatch<Generated> = { name: 'Abies', light: null, price: 25 }
const updated = await store.updatePlant(4n, patch)
const inStock: boolean | undefined = updated.plant.inStock
const page = await store.listPlants()
const next = await page.next?.()
const heights: (number | undefined)[] = [...page.plants, ...(next?.plants ?? [])].map(({ height }) => height)
for await (const { id, price } of store.plants()) console.log(id, price?.toFixed(2))
const { changes, next: later } = await store.listChanges()
const more: Change<Generated>[] = (await later()).changes
for (const { type, plant } of [...changes, ...more]) console.log(type, plant?.planted)
for await (const change of store.changes()) if (change.type !== 'removed') console.log(change.plant.height)

const filter: FieldFilter<Generated> = { height: { min: 10, max: 20 }, light: { is: ['sun', 'shade'] } }
await store.listPlants({ filter, q: 'abies' })
await store.countPlants({ filter: { ...filter, price: 'absent', inStock: { is: [true] } }, tag: 'Tree' })
for await (const { height } of store.plants({ filter, pageSize: 10 })) console.log(height)

// @ts-expect-error not one of the values
await store.listPlants({ filter: { light: { is: ['moon'] } } })
// @ts-expect-error a number
await store.countPlants({ filter: { height: { min: '10' } } })
// @ts-expect-error no limits
store.plants({ filter: { inStock: { min: false } } })
// @ts-expect-error no such condition
await store.listPlants({ filter: { height: 'present' } })
// @ts-expect-error no such field
await store.listPlants({ filter: { weight: 'absent' } })
// @ts-expect-error not an own field
await store.listPlants({ filter: { tag: 'absent' } })
// @ts-expect-error not one of the values
await store.createPlant({ id: 4n, name: 'Abies', light: 'moon' })
// @ts-expect-error a number
await store.createPlant({ id: 4n, name: 'Abies', height: '120' })
// @ts-expect-error no such field
await store.createPlant({ id: 4n, name: 'Abies', weight: 1 })
// @ts-expect-error only a patch accepts null
await store.replacePlant(4n, { name: 'Abies', height: null })
// @ts-expect-error not one of the values
await store.updatePlant(4n, { light: 'moon' })
// @ts-expect-error no such field
await store.updatePlant(4n, { weight: null })
// @ts-expect-error a name cannot be removed
await store.updatePlant(4n, { name: null })
// @ts-expect-error a number
await store.changePlants([{ op: 'create', id: 4n, name: 'Abies', height: '120' }])
// @ts-expect-error only an update accepts null
await store.changePlants([{ op: 'replace', id: 4n, name: 'Abies', height: null }])
// @ts-expect-error no such field
await store.changePlants([{ op: 'update', id: 4n, weight: null }])
// @ts-expect-error a removal has no content
await store.changePlants([{ op: 'remove', id: 4n, height: 1 }])
// @ts-expect-error no such field
stored.weight

type Exact = Omit<Generated, 'serial'> & { serial?: bigint }
const exact = createClient<Exact>({ url, token, int64Fields: ['serial'] })
await exact.updatePlant(4n, { serial: 9007199254740993n })
await exact.updatePlant(4n, { serial: null })
await exact.listPlants({ filter: { serial: { is: [9007199254740993n] } } })
const serial: bigint | undefined = (await exact.getPlant(4n)).plant.serial
// @ts-expect-error a bigint
await exact.updatePlant(4n, { serial: 5 })

interface Tree extends Generated {
  height: number
}
const trees = createClient<Tree>({ url, token })
// @ts-expect-error a required field
await trees.createPlant({ id: 4n, name: 'Abies' })
// @ts-expect-error a required field
await trees.updatePlant(4n, { height: null })

const rename = (store: PlantStoreClient) => store.updatePlant(4n, { name: 'Abies' })
await Promise.all([rename(store), rename(exact), rename(trees)])
const plain = createClient({ url, token })
const { plant: known } = await plain.getPlant(4n)
await plain.replacePlant(4n, { ...known, name: 'Abies' })

export { heights, id, inStock, light, serial }
`

/** A program that knows only the first published interface. */
const PUBLISHED = `
import createClient from 'openapi-fetch'
import type { paths } from './published.ts'

export async function create(baseUrl: string, token: string): Promise<string | undefined> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: 'Bearer ' + token } })
  const { data, error } = await client.POST('/plants', { body: { id: 4, name: 'Abies' } })
  return data?.name ?? error?.message
}
`

let service: Service
let folder: string
t.before(async () => {
  folder = makeFolder(t, tmpdir())
  service = await startService(t, { fields: nursery })
  const document = await fetch(`${service.url}/documentation/json`)
  await generateTypes('plants.ts', await document.text())
  await generateTypes('published.ts', readFileSync(INTERFACE))
  writeFileSync(join(folder, 'client.d.ts'), declareClient())
})

for (const exactOptionalPropertyTypes of [true, false]) {
  const mode = exactOptionalPropertyTypes ? 'with' : 'without'
  t.test(`a strict program compiles ${mode} exactOptionalPropertyTypes`, async (t) => {
    writeFileSync(join(folder, 'program.mts'), PROGRAM)
    t.strictSame(compile('program.mts', { exactOptionalPropertyTypes }), [])
  })
}

t.test('a client that is generated from the published interface works', async (t) => {
  writeFileSync(join(folder, 'client.mts'), PUBLISHED)
  t.strictSame(compile('client.mts'), [])
  const runnable = join(folder, 'runnable.mts')
  writeFileSync(runnable, PUBLISHED.replace("'openapi-fetch'", `'${OPENAPI_FETCH}'`))
  const { create } = await import(pathToFileURL(runnable).href)
  // Compiling can take longer than the server keeps an idle connection, which fetch would use again.
  service.app.server.closeAllConnections()
  await setImmediate()
  t.equal(await create(service.url, service.token), 'Abies')
})

/** Writes the types that openapi-typescript generates from a document in JSON or YAML. */
async function generateTypes(name: string, document: string | Buffer): Promise<void> {
  writeFileSync(join(folder, name), astToString(await openapiTS(document)))
}

/** The errors of a program, each with its line. */
function compile(name: string, given: ts.CompilerOptions = {}): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipDefaultLibCheck: true,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.NodeNext,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: {
      'plant-store/client': [join(folder, 'client.d.ts')],
      'openapi-fetch': [join(ROOT, 'node_modules/openapi-fetch/dist/index.d.mts')],
    },
    ...given,
  }
  const program = ts.createProgram([join(folder, name)], options, hostFor(options))
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file?.text.slice(0, start).split('\n').length
    return `${file?.fileName}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}

/** The declarations of JavaScript, Node and packages, which the programs share. */
const parsed = new Map<string, ts.SourceFile | undefined>()

function hostFor(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options)
  return {
    ...host,
    getSourceFile: (file, ...others) => {
      if (!file.includes('node_modules')) return host.getSourceFile(file, ...others)
      const known = parsed.get(file) ?? host.getSourceFile(file, ...others)
      parsed.set(file, known)
      return known
    },
  }
}
