/** The imports between folders, their sizes, and the vocabulary of the domain. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

/** The folders that each folder at the top can import from. */
const TOP: Readonly<Record<string, readonly string[]>> = {
  core: [],
  service: ['core'],
  client: ['core'],
  page: ['core', 'client'],
  src: ['core', 'service', 'client'],
  tools: ['core', 'service', 'client', 'src', 'bin'],
}

/** The folders in `src`, from top to bottom: each can import from those that follow it. */
const ROOMS = [
  'commands',
  'start',
  'faults',
  'threads',
  'http',
  'webhooks',
  'transfer',
  'mirror',
  'observing',
  'stores',
  'auth',
  'config',
  'system',
]

/** The number of files that a folder can list. */
const FILES_MAX = 15

/** A relative path in an import, at the end of a statement or in a call. The formatter makes all look like this. */
const IMPORT = /\b(?:from|import) ?\(?'(\.[^']*)'/g

const files = globSync('{core,service,client,page,src,tools}/**/*.{ts,tsx}', {
  exclude: ['**/node_modules/**'],
}).sort()
const imports = new Map(files.map((file) => [file, importsOf(file)]))
const edges = [...imports].flatMap(([from, targets]) => targets.map((to) => ({ from, to })))

t.test('imports between the folders at the top go one way', async (t) => {
  const isAllowed = (from = '', to = '') => from === to || TOP[from]?.includes(to)
  t.same(
    wrong(({ from, to }) => !isAllowed(from.split('/')[0], to.split('/')[0])),
    [],
  )
})

t.test('imports between the folders in src go one way', async (t) => {
  t.same(
    globSync('src/*/')
      .map((folder) => folder.slice('src/'.length))
      .sort(),
    [...ROOMS].sort(),
  )
  const rank = (file: string) => ROOMS.indexOf(/^src\/(\w+)\//.exec(file)?.[1] ?? '')
  t.same(
    wrong(({ from, to }) => rank(to) !== -1 && rank(to) < rank(from)),
    [],
  )
})

for (const { what, imported, folder } of [
  { what: 'engines are', imported: /^src\/stores\/(?!shared)\w+\//, folder: /^src\/stores\// },
  { what: 'the client is', imported: /^client\//, folder: /^src\/mirror\// },
]) {
  t.test(`in src, ${what} imported in ${folder.source} only`, async (t) => {
    const isWrong = ({ from, to }: { from: string; to: string }) =>
      /^src\//.test(from) && !folder.test(from) && imported.test(to)
    t.same(wrong(isWrong), [])
  })
}

t.test('no two folders import each other', async (t) => {
  const pairs = new Set(edges.map(({ from, to }) => `${roomOf(from, to)} → ${roomOf(to, from)}`))
  const isMutual = (room: string, other: string) =>
    room !== other && pairs.has(`${other} → ${room}`)
  t.same(
    wrong(({ from, to }) => isMutual(roomOf(from, to), roomOf(to, from))),
    [],
  )
})

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

t.test(`no folder lists more than ${FILES_MAX} files, or a single one`, async (t) => {
  const tests = globSync('{bin,test}/**/*.{ts,js}')
  const folders = Object.groupBy([...files, ...tests], dirname)
  const isWrong = (folder: string, count: number) =>
    count > FILES_MAX || (count === 1 && globSync(`${folder}/*`).length === 1)
  const found = Object.entries(folders).filter(([folder, list]) =>
    isWrong(folder, list?.length ?? 0),
  )
  t.same(found, [])
})

/** The handler class speaks to clients, whose requests have query parameters. */
const HANDLERS = 'service/plant-service.ts'

t.test('the domain speaks of neither HTTP nor the command line', async (t) => {
  const terms = /\bHTTP\b|\bheader|query parameter|plant-store \w|\B--\w|\bPLANT_STORE/i
  const domain = files.filter((file) => file.startsWith('service/') && file !== HANDLERS)
  const spoken = domain.flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n')
    return lines.filter((line) => !line.startsWith('import ') && terms.test(line))
  })
  t.same(spoken, [])
})

/** The imports that match, each as `importer → imported`. */
function wrong(matches: (edge: (typeof edges)[number]) => boolean): string[] {
  return edges.filter(matches).map(({ from, to }) => `${from} → ${to}`)
}

/** The files that a file imports, including those it imports types from. */
function importsOf(file: string): string[] {
  const found = readFileSync(file, 'utf8').matchAll(IMPORT)
  return Array.from(found, ([, imported = '']) => join(dirname(file), imported))
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
