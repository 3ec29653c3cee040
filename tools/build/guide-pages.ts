import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { lexer, parser, Renderer, type Tokens } from 'marked'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The pages in `docs/` that the service serves, without `.md`: those for people who call it. */
export const GUIDES = [
  'http-api',
  'changes',
  'webhooks',
  'access',
  'client',
  'other-languages',
  'own-fields',
  'consistency',
  'testing',
  'third-party-tools',
] as const

/** A link without a scheme such as `https:`. */
const RELATIVE_LINK = /^(?![a-z]+:)([^#]*)(#.*)?$/

const IMAGE = /<img src="([\w-]+\.png)"/g

/** A file of the package that the service serves, with its URL relative to the guides. */
const CONTRACT = { path: 'openapi.yaml', url: '../yaml' }

interface Guide {
  readonly name: string
  readonly title: string
  /** The first paragraph, as HTML. */
  readonly summary: string
  /** The whole guide, as HTML. */
  readonly html: string
}

/**
 * Renders the guides for a browser. They need no scripts, and all their URLs are relative, so that they work below any
 * path.
 *
 * @returns the content of each file by name: the guides, a list of them, their stylesheet and images
 */
export function renderGuides(): ReadonlyMap<string, string | Uint8Array> {
  const sources = GUIDES.map((name) => [name, read(`${name}.md`).toString()] as const)
  const guides = sources.map(([name, source]) => renderGuide(name, source))
  const images = sources.flatMap(([, source]) => [...source.matchAll(IMAGE)])
  return new Map<string, string | Uint8Array>([
    ['guides.css', bundleStyle()],
    ['index.html', toDocument('Guides', '', listOf(guides))],
    ...guides.map((guide): [string, string] => [
      `${guide.name}.html`,
      toDocument(guide.title, menuOf(guides, guide), guide.html),
    ]),
    ...images.map(([, name = '']): [string, Buffer] => [name, read(name)]),
  ])
}

function read(name: string): Buffer {
  return readFileSync(join(ROOT, 'docs', name))
}

function bundleStyle(): Uint8Array {
  const { outputFiles } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: ['page/guides.css'],
    bundle: true,
    minify: true,
    write: false,
  })
  return Buffer.concat(outputFiles.map(({ contents }) => contents))
}

function renderGuide(name: string, source: string): Guide {
  const tokens = lexer(source)
  const options = { renderer: new GuideRenderer(name) }
  const title = tokens.find(({ type }) => type === 'heading') as Tokens.Heading
  const first = tokens.filter(({ type }) => type === 'paragraph').slice(0, 1)
  return {
    name,
    title: title.text,
    // A list or code can follow it.
    summary: parser(first, options).replace(':</p>', '.</p>'),
    html: parser(tokens, options),
  }
}

class GuideRenderer extends Renderer {
  readonly #name: string
  readonly #anchors = new Set<string>()

  constructor(name: string) {
    super()
    this.#name = name
  }

  override heading({ tokens, depth }: Tokens.Heading): string {
    const text = this.parser.parseInline(tokens, this.parser.textRenderer)
    return `<h${depth} id="${this.#anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
  }

  /** Such as GitHub's, where repeated ones are numbered. */
  #anchorOf(heading: string): string {
    const words = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '')
    const anchor = words.replaceAll(' ', '-')
    let unique = anchor
    for (let count = 1; this.#anchors.has(unique); count++) unique = `${anchor}-${count}`
    this.#anchors.add(unique)
    return unique
  }

  /** A link to a file that is not served becomes text. */
  override link(link: Tokens.Link): string {
    const [, relative, anchor = ''] = RELATIVE_LINK.exec(link.href) ?? []
    if (relative === undefined) return super.link(link)
    // A link to a heading of the same guide works in the list too.
    const path = relative === '' ? `docs/${this.#name}.md` : join('docs', relative)
    const guide = GUIDES.find((name) => path === `docs/${name}.md`)
    if (guide !== undefined) return super.link({ ...link, href: guide + anchor })
    if (path === CONTRACT.path) return super.link({ ...link, href: CONTRACT.url })
    return this.parser.parseInline(link.tokens)
  }

  // People who use only the keyboard scroll what is wider than their screen.
  override table(table: Tokens.Table): string {
    return `<div class="wide surface" tabindex="0">${super.table(table)}</div>\n`
  }

  /** The corner of a table is no header of anything. */
  override tablecell(cell: Tokens.TableCell): string {
    return super.tablecell({ ...cell, header: cell.header && cell.text !== '' })
  }

  override code(code: Tokens.Code): string {
    return super.code(code).replace('<pre>', '<pre class="wide surface" tabindex="0">')
  }
}

function listOf(guides: readonly Guide[]): string {
  const items = guides.map(
    ({ name, title, summary }) => `<h2><a href="${name}">${title}</a></h2>\n${summary}`,
  )
  return `<h1>Guides</h1>\n${items.join('')}`
}

function menuOf(guides: readonly Guide[], current: Guide): string {
  const items = guides.map((guide) => {
    const state = guide === current ? ' aria-current="page"' : ''
    return `<li><a href="${guide.name}"${state}>${guide.title}</a></li>\n`
  })
  return `<nav aria-label="Guides"><ul>\n${items.join('')}</ul></nav>\n`
}

function toDocument(title: string, menu: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Plant Store</title>
<link rel="icon" href="../static/theme/docs.svg">
<link rel="stylesheet" href="guides.css">
</head>
<body>
<header>
<a href="./"><img src="../static/theme/docs.svg" alt="" width="28" height="28"> Guides</a>
<nav aria-label="Plant Store"><a href="../../documentation">API docs</a></nav>
</header>
<div class="columns">
${menu}<main>
${content}<footer>The package <code>plant-store</code> has more guides, for those who run the service.</footer>
</main>
</div>
</body>
</html>
`
}
