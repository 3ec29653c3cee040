import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildOptions, Metafile, Plugin } from 'esbuild'

const MAIN = 'dist/page/main.js'

/** Makes the browser request all that `main.js` imports at once, rather than after it has parsed `main.js`. */
const preload: Plugin = {
  name: 'preload',
  setup({ onEnd, initialOptions: { absWorkingDir = '', outdir = '' } }) {
    onEnd(({ metafile, outputFiles }) => {
      if (metafile === undefined) return
      const html = readFileSync(join(absWorkingDir, 'page/index.html'), 'utf8')
      const links = [...importsOf(MAIN, metafile)].map(
        (file) => `<link rel="modulepreload" href="page/${basename(file)}">\n`,
      )
      const text = html.replace('<script', `${links.join('')}<script`)
      const path = join(absWorkingDir, outdir, 'index.html')
      const file = outputFiles?.find((file) => file.path === path)
      if (file === undefined) writeFileSync(path, text)
      else file.contents = Buffer.from(text)
    })
  },
}

/** The files that a file imports, directly or not, unless only `import()` does. */
function importsOf(file: string, metafile: Metafile, found = new Set<string>()): Set<string> {
  for (const { path, kind } of metafile.outputs[file]?.imports ?? []) {
    if (kind !== 'import-statement' || found.has(path)) continue
    importsOf(path, metafile, found.add(path))
  }
  return found
}

/** How esbuild bundles the page. What `import()` loads becomes a file of its own, whose name contains a hash. */
export const PAGE_BUNDLE = {
  absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
  entryPoints: [
    { in: 'page/main.tsx', out: 'main' },
    { in: 'page/index.html', out: 'index' },
    { in: 'src/http/docs/docs.svg', out: 'icon' },
  ],
  loader: { '.html': 'copy', '.svg': 'copy' },
  // The service finds it there, in a checkout and in the package.
  outdir: 'dist/page',
  bundle: true,
  format: 'esm',
  splitting: true,
  // All browsers support it whose JSON.parse keeps ids exact.
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  // The image has no tsconfig.json.
  tsconfigRaw: '{}',
  minify: true,
  metafile: true,
  plugins: [preload],
} satisfies BuildOptions
