import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The page's sources in a checkout; in the package, the files they were built into. */
export const PAGE_FOLDER = new URL('../../../page/', import.meta.url)

/** The page itself. It finds the other files in `page/`, relative to the root. */
export const DOCUMENT = 'index.html'

/** The script that the page loads. */
export const ENTRY = 'main.js'

/** All browsers support it whose JSON.parse keeps ids exact. */
const TARGET = 'es2022'

/**
 * Bundles the page with esbuild, in a child process that ends with the bundling. Do not call it again before it has
 * finished, because the first to finish ends the process.
 *
 * @returns the files by name
 */
export async function bundlePage(): Promise<Map<string, Uint8Array>> {
  const { build, stop } = await import('esbuild')
  const { outputFiles } = await build({
    absWorkingDir: fileURLToPath(PAGE_FOLDER),
    entryPoints: ['main.tsx'],
    outdir: '.',
    bundle: true,
    format: 'esm',
    target: TARGET,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The image has no tsconfig.json.
    tsconfigRaw: '{}',
    minify: true,
    write: false,
    logLevel: 'silent',
  }).finally(stop)
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]))
  files.set(DOCUMENT, await readFile(new URL(DOCUMENT, PAGE_FOLDER)))
  files.set('icon.svg', await readFile(new URL('../docs/docs.svg', import.meta.url)))
  return files
}
