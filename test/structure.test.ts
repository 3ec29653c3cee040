/** The direction of the imports between folders. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import ts from 'typescript'

/** Files without imports of ours, which any folder in src can import. */
const LEAVES = ['file-modes', 'loopback', 'shared-result', 'within'].map((name) => `src/${name}.ts`)

/** What the files of a folder can import in addition to each other: folders, or single files. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  service: ['contract'],
  client: [
    'contract/api.gen.ts',
    'contract/error-codes.gen.ts',
    // These have no dependencies, so they also run in browsers.
    'contract/int64.ts',
    'contract/limits.gen.ts',
  ],
  // Runs in browsers too, like the files named here.
  formats: ['contract/api.gen.ts', 'contract/int64.ts', 'contract/plant.ts'],
  // Runs in browsers.
  page: [
    'client',
    'formats',
    'contract/int64.ts',
    'contract/limits.gen.ts',
    'contract/plant.ts',
    'src/http/page/page-settings.ts',
  ],
  'src/config': ['service', 'contract', ...LEAVES],
  'src/oidc': ['service', 'contract', 'src/config', ...LEAVES],
  'src/threads': ['service', ...LEAVES],
  'src/stores': ['service', 'contract', 'src/threads', ...LEAVES],
  'src/transfer': ['formats', 'service', 'contract', 'src/config', ...LEAVES],
  'src/http': [
    'service',
    'contract',
    'src/config',
    'src/log.ts',
    'src/metrics/request-metrics.ts',
    ...LEAVES,
  ],
  'src/webhooks': ['service', 'contract'],
  'src/mirror': ['service', 'contract', 'client', 'src/config'],
  'src/metrics': [
    'service',
    'contract',
    'src/config',
    'src/http',
    'src/stores',
    'src/webhooks',
    ...LEAVES,
  ],
  src: ['service', 'contract', 'client', 'formats'],
  tools: [],
  bench: ['src', 'contract', 'service', 'client', 'tools'],
  scripts: ['src', 'contract', 'service', 'client', 'tools'],
}

const files = globSync(
  '{contract,service,client,formats,page,src,tools,bench,scripts}/**/*.{ts,tsx}',
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
  { what: 'engines are', imported: /^src\/stores\/\w+\//, folder: 'src/stores' },
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

/** The imports of some files that match, each as `importer → imported`. */
function edges(importers: readonly string[], matches: (imported: string) => boolean): string[] {
  return importers.flatMap((file) => {
    const matching = imports.get(file)?.filter(matches) ?? []
    return matching.map((imported) => `${file} → ${imported}`)
  })
}

/** The files that a file imports, including those it imports types from. */
function importsOf(file: string): string[] {
  return ts
    .preProcessFile(readFileSync(file, 'utf8'))
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => join(dirname(file), fileName))
}

/** Whether a file is in a folder, at any depth, or is the file itself. */
function isIn(folder: string, file: string): boolean {
  return file === folder || file.startsWith(`${folder}/`)
}
