import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, matchesGlob } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { errorCodes } from '../core/generated/error-codes.gen.ts'
import { settingOptions } from '../src/commands/console/options.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DOCUMENTS = globSync(['*.md', 'tools/bench/*.md', 'docs/*.md', 'src/**/*.md'], { cwd: ROOT })

/** A link without a scheme such as `https:`. */
const RELATIVE_LINK = /\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g

/** A code span with a path below one of our folders, perhaps with a `*`. */
const PATH = /`((?:bin|client|core|deploy|docs|page|service|src|test|tools)\/[\w./*-]*)`/g

const IMAGE = /<img [^>]*>/g

/** The path of a picture, or of its version for the dark color scheme. */
const PICTURE = /<(?:img src|source [^>]*srcset)="([^"]*)"/g

const NPM_SCRIPT = /\bnpm run\s([\w:]+)/g

for (const document of DOCUMENTS) {
  const text = read(document)

  t.test(`the links in ${document} lead to existing files and headings`, async (t) => {
    for (const [link, path = '', anchor] of text.matchAll(RELATIVE_LINK)) {
      const target = path === '' ? document : join(dirname(document), path)
      if (!existsSync(join(ROOT, target))) t.fail(`${link}: there is no file ${target}`)
      else if (anchor !== undefined) t.ok(anchorsOf(read(target)).has(anchor), link)
    }
  })

  t.test(`the pictures in ${document} exist, and have alternative text`, async (t) => {
    for (const picture of picturesOf(document)) t.ok(existsSync(join(ROOT, picture)), picture)
    for (const [image] of text.matchAll(IMAGE)) t.match(image, / alt="[^"]+"/)
  })

  // A changelog names what existed at the time.
  if (document === 'CHANGELOG.md') continue

  t.test(`the paths and npm scripts that ${document} names exist`, async (t) => {
    for (const [, path = ''] of text.matchAll(PATH)) t.ok(globSync(path, { cwd: ROOT })[0], path)
    const { scripts } = JSON.parse(read('package.json'))
    for (const [command, script = ''] of text.matchAll(NPM_SCRIPT)) t.ok(scripts[script], command)
  })
}

t.test('the package contains what its pages link to and show', async (t) => {
  const { files } = JSON.parse(read('package.json'))
  const isPackaged = (path: string) =>
    files.some((each: string) => matchesGlob(path, each) || path.startsWith(each))
  for (const page of globSync('docs/*.md', { cwd: ROOT })) {
    for (const picture of picturesOf(page)) t.ok(isPackaged(picture), `${page}: ${picture}`)
    for (const [link, path = ''] of read(page).matchAll(RELATIVE_LINK)) {
      const target = path === '' ? page : join(dirname(page), path)
      t.ok(target === 'README.md' || isPackaged(target), `${page}: ${link}`)
    }
  }
})

t.test('every picture in docs/ is shown', async (t) => {
  const shown = new Set(DOCUMENTS.flatMap(picturesOf))
  for (const picture of globSync('docs/*.{png,svg}', { cwd: ROOT }))
    t.ok(shown.has(picture), picture)
})

t.test('the README has the commands to start the service and to test it', async (t) => {
  const blocks = [...read('README.md').matchAll(/^```sh\n([^`]*)```$/gm)].map(([, block]) => block)
  for (const command of ['npm ci && npm start', 'npm ci && npm test']) {
    t.ok(blocks.includes(`${command}\n`), command)
  }
})

t.test('git ignores what the commands of the docs write into a checkout', async (t) => {
  const ignored = new Set(read('.gitignore').split('\n'))
  const documents = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })].map(read).join('\n')
  const commands = documents.match(/^.*\bplant-store .*$/gm) ?? []
  const files = commands
    .join('\n')
    .matchAll(/(?: > | 2> |--cursor |export )(?<name>[a-z-]+(?:\.[a-z]+)?)(?: &)?$/gm)
  const names = [...files].map(({ groups }) => groups?.name ?? '')
  t.ok(names.includes('move-token'))
  for (const name of names) t.ok(ignored.has(`/${name}`), name)
})

t.test('the README links to every page in docs/', async (t) => {
  const readme = read('README.md')
  for (const page of globSync('docs/*.md', { cwd: ROOT })) {
    t.ok(readme.includes(`](${page})`), `add ${page} to the table in README.md`)
  }
})

t.test('docs/settings.md has an item for every setting', async (t) => {
  const page = read('docs/settings.md').replaceAll('\n  ', ' ')
  for (const { long, defaultValueDescription, description } of settingOptions) {
    const value = defaultValueDescription === undefined ? '' : ` (\`${defaultValueDescription}\`)`
    const item = `- \`${long}\`${value}: ${description}`
    t.ok(page.includes(item), `add the item ${item} to docs/settings.md`)
  }
})

interface Operation {
  readonly 'x-scope': string | string[]
}

const contract: { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> } =
  parse(read('openapi.yaml'))

const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `\`${method.toUpperCase()} ${path}\``,
    scopes: [operation['x-scope']]
      .flat()
      .map((scope) => `\`${scope}\``)
      .join(' and '),
  })),
)

t.test('README.md has a row for every operation, with its scopes', async (t) => {
  const readme = read('README.md')
  for (const { name, scopes } of operations) {
    const row = `| ${name} | ${scopes} |`
    t.ok(readme.includes(row), `add the row ${row} … to the table of operations in README.md`)
  }
})

t.test('docs/access.md has every operation in the row of its scopes', async (t) => {
  const lines = read('docs/access.md').split('\n')
  for (const { name, scopes } of operations) {
    const row = lines.find((line) => line.startsWith(`| ${scopes} |`))
    t.ok(row?.includes(name), `add ${name} to the row of ${scopes} in docs/access.md`)
  }
})

t.test('docs/http-api.md explains every error code, below a heading for its status', async (t) => {
  const sections = read('docs/http-api.md').split(/^### /m)
  for (const { status, error } of Object.values(errorCodes)) {
    const section = sections.find((each) => each.startsWith(`${status}\n`)) ?? ''
    t.ok(
      section.includes(`(${error})`),
      `explain ${error} in docs/http-api.md, below ### ${status}`,
    )
  }
})

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** The paths of the pictures that a document shows, relative to the root. */
function picturesOf(document: string): string[] {
  return [...read(document).matchAll(PICTURE)].map(([, path = '']) => join(dirname(document), path))
}

/** The anchors that GitHub generates for the headings. */
function anchorsOf(markdown: string): Set<string> {
  const prose = markdown.split(/^```.*$/m).filter((_, index) => index % 2 === 0)
  const headings = prose.join('').matchAll(/^#+ (.*)$/gm)
  const anchors = [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
  return new Set(anchors)
}
