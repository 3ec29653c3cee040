import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'esbuild'

/** How esbuild bundles the page. What `import()` loads becomes a file of its own, whose name contains a hash. */
export const PAGE_BUNDLE = {
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
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
} satisfies BuildOptions
