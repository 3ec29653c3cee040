/** The imports between folders, and the vocabulary of the domain. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

/** What the files of a folder can import in addition to each other: folders, or single files. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  time: [],
  service: ['contract', 'time'],
  client: [
    'core/generated/api.gen.ts',
    'core/generated/error-codes.gen.ts',
    // These use nothing of Node, so they also run in browsers.
    'core/json/decimal.ts',
    'core/json/int64.ts',
    'core/known.ts',
    'core/generated/limits.gen.ts',
    'core/members/members.gen.ts',
    'core/members/members.ts',
    'core/members/plant.ts',
    'core/members/plant-version.ts',
    'core/time/retries.ts',
  ],
  // Runs in browsers too, like the files named here.
  formats: [
    'core/generated/api.gen.ts',
    'core/json/decimal.ts',
    'core/json/int64.ts',
    'core/known.ts',
    'core/members/members.gen.ts',
    'core/members/members.ts',
    'core/members/plant.ts',
  ],
  // Runs in browsers.
  page: [
    'client',
    'formats',
    'core/json/int64.ts',
    'core/generated/limits.gen.ts',
    'core/known.ts',
    'core/members/members.gen.ts',
    'core/members/members.ts',
    'core/members/own-fields.ts',
    'core/members/plant.ts',
    'core/members/plant-version.ts',
    'core/time/retries.ts',
    'core/time/shared-result.ts',
    'core/page-settings.ts',
  ],
  'src/system': ['core/known.ts'],
  'src/config': ['service', 'contract', 'src/system'],
  'src/auth': ['service', 'contract', 'time', 'src/config', 'src/system'],
  'src/system': ['service', 'core/known.ts', 'time', 'src/system'],
  'src/stores': ['service', 'contract', 'time', 'src/system', 'src/system'],
  'src/transfer': ['formats', 'service', 'contract', 'time', 'src/system'],
  'src/observing': ['src/config'],
  'src/http': [
    'service',
    'contract',
    'time',
    'src/config',
    'src/system',
    'src/observing',
    'src/observing/request-metrics.ts',
  ],
  'src/webhooks': ['service', 'contract', 'time', 'src/observing/limited-log.ts'],
  // The package has the client as one file.
  'src/mirror': ['service', 'contract', 'time', 'client/client.ts', 'src/system'],
  'src/observing': ['contract', 'time', 'src/stores', 'src/webhooks'],
  'src/http/admin': [
    'service',
    'contract',
    'time',
    'src/config',
    'src/system',
    'src/http',
    'src/observing',
  ],
  'src/faults': [
    'service',
    'contract',
    'src/config',
    'src/system',
    'src/http',
    'src/http/admin/admin-server.ts',
  ],
  src: ['service', 'contract', 'time', 'client', 'formats'],
  tools: [],
  bench: ['src', 'contract', 'time', 'service', 'client', 'tools'],
  scripts: ['src', 'contract', 'time', 'service', 'client', 'tools'],
}

/** A relative path in an import, at the end of a statement or in a call. The formatter makes all look like this. */
const IMPORT = /\b(?:from|import) ?\(?'(\.[^']*)'/g

const files = globSync(
  '{contract,time,service,client,formats,page,src,tools,bench,scripts}/**/*.{ts,tsx}',
).sort()
const imports = new Map(files.map((file) => [file, importsOf(file)]))

for (const [folder, others] of Object.entries(ALLOWED)) {
  t.test(`${folder} imports from ${others.join(', ')} only`, async (t) => {
    const importers = files.filter((file) => isIn(folder, file))
    t.ok(importers.length > 0)
    const isAllowed = (file: string) => [folder, ...others].some((each) => isIn(each, file))
    t.same(
      edges(importers, (imported) => !isAllowed(imported)),
      [],
    )
  })
}

for (const { what, imported, folder } of [
  { what: 'engines are', imported: /^src\/stores\/(?!shared)\w+\//, folder: 'src/stores' },
  { what: 'the client is', imported: /^client\//, folder: 'src/mirror' },
]) {
  t.test(`in src, ${what} imported in ${folder} only`, async (t) => {
    const importers = files.filter((file) => isIn('src', file) && !isIn(folder, file))
    t.same(
      edges(importers, (each) => imported.test(each)),
      [],
    )
  })
}

t.test('no file imports itself, directly or through others', async (t) => {
  const cycles: string[] = []
  const acyclic = new Set<string>()
  const visit = (file: string, importers: readonly string[]): void => {
    const chain = [...importers, file]
    if (importers.includes(file)) {
      cycles.push(chain.slice(importers.indexOf(file)).join(' → '))
    } else if (!acyclic.has(file)) {
      for (const imported of imports.get(file) ?? []) visit(imported, chain)
      acyclic.add(file)
    }
  }
  for (const file of files) visit(file, [])
  t.same(cycles, [])
})

/** The handler class speaks to clients, whose requests have query parameters. */
const HANDLERS = 'service/plant-service.ts'

t.test('the domain speaks of neither HTTP nor the command line', async (t) => {
  const terms = /\bHTTP\b|\bheader|query parameter|plant-store \w|\B--\w|\bPLANT_STORE/i
  const spoken = files
    .filter((file) => isIn('service', file) && file !== HANDLERS)
    .flatMap((file) => {
      const lines = readFileSync(file, 'utf8').split('\n')
      return lines
        .filter((line) => terms.test(line.replace(/^import .*/, '')))
        .map((line) => `${file}: ${line}`)
    })
  t.same(spoken, [])
})

t.test('no two folders import each other', async (t) => {
  const crossings = files.flatMap((importer) =>
    (imports.get(importer) ?? []).map((imported) => ({
      edge: `${importer} → ${imported}`,
      from: roomOf(importer, imported),
      to: roomOf(imported, importer),
    })),
  )
  const pairs = new Set(crossings.map(({ from, to }) => `${from} → ${to}`))
  const mutual = crossings.filter(({ from, to }) => from !== to && pairs.has(`${to} → ${from}`))
  t.same(
    mutual.map(({ edge }) => edge),
    [],
  )
})

/** The imports of some files that match, each as `importer → imported`. */
function edges(importers: readonly string[], matches: (imported: string) => boolean): string[] {
  return importers.flatMap((file) => {
    const matching = imports.get(file)?.filter(matches) ?? []
    return matching.map((imported) => `${file} → ${imported}`)
  })
}

/** The files that a file imports, including those it imports types from. */
function importsOf(file: string): string[] {
  return Array.from(readFileSync(file, 'utf8').matchAll(IMPORT), ([, imported = '']) =>
    join(dirname(file), imported),
  )
}

/**
 * The folder of a file as seen from another: where their paths part, or what they share if the file is directly in it.
 * Seen from `src/observing/metrics.ts`, `src/http/sockets/tls.ts` is in `src/http`, and `src/index.ts` in `src`.
 */
function roomOf(file: string, other: string): string {
  const folders = dirname(file).split('/')
  const others = dirname(other).split('/')
  const parting = folders.findIndex((folder, depth) => folder !== others[depth])
  return parting === -1 ? folders.join('/') : folders.slice(0, parting + 1).join('/')
}

/** Whether a file is in a folder, at any depth, or is the file itself. */
function isIn(folder: string, file: string): boolean {
  return file === folder || file.startsWith(`${folder}/`)
}
