import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** The page's sources in a checkout; in the package, the files they were built into. */
export const PAGE_FOLDER = new URL('../../../page/', import.meta.url)

/** The page itself. It finds the other files in `page/`, relative to the root. */
export const DOCUMENT = 'index.html'

/** Supported by Chromium 111, Firefox 111 and Safari 16.4. */
const TARGET = 'es2022'

/**
 * Bundles the page with esbuild.
 *
 * @returns the files by name
 */
export async function bundlePage(): Promise<Map<string, Uint8Array>> {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: fileURLToPath(PAGE_FOLDER),
    entryPoints: ['main.tsx'],
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    outdir: '.',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: TARGET,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const names = Object.keys(metafile.outputs)
  const files = new Map(
    names.map((name, index) => [name, outputFiles[index]?.contents as Uint8Array]),
  )
  // What `main.js` imports loads together with it rather than after it.
  const imported = metafile.outputs['main.js']?.imports ?? []
  const preloads = imported
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => `<link rel="modulepreload" href="page/${path}">`)
  const html = await readFile(new URL(DOCUMENT, PAGE_FOLDER), 'utf8')
  files.set(DOCUMENT, Buffer.from(html.replace('</head>', `${preloads.join('')}</head>`)))
  files.set('icon.svg', await readFile(new URL('../docs/docs.svg', import.meta.url)))
  return files
}
