import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'esbuild'

/**
 * How esbuild bundles the page, and the stylesheet of the guides. What `import()` loads becomes a file of its own, whose
 * name contains a hash.
 */
export const PAGE_BUNDLE = {
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  entryPoints: [
    { in: 'page/main.tsx', out: 'page/main' },
    { in: 'page/index.html', out: 'page/index' },
    { in: 'src/http/docs/docs.svg', out: 'page/icon' },
    { in: 'page/guides.css', out: 'guides/guides' },
  ],
  chunkNames: 'page/[name]-[hash]',
  loader: { '.html': 'copy', '.svg': 'copy' },
  // The service finds them there, in a checkout and in the package.
  outdir: 'dist',
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
