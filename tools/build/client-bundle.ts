import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import ts from 'typescript'
import { declareClient } from './client-declarations.ts'

/**
 * Loads only our own code, because the license of the client names no other. Leaves out comments: the declarations have
 * the documentation, and esbuild would keep that of methods.
 */
const ownCode: Plugin = {
  name: 'own code',
  setup({ onLoad }) {
    onLoad({ filter: /\/node_modules\// }, ({ path }) => {
      throw new Error(`the license of the client would have to name ${path}`)
    })
    const compilerOptions = { target: ts.ScriptTarget.ESNext, removeComments: true }
    onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: ts.transpileModule(readFileSync(path, 'utf8'), { compilerOptions }).outputText,
    }))
  },
}

/** Writes the client as one module, `client.js`, and its types, `client.d.ts`. Both import nothing. */
export async function writeClient(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'client.js'), await bundleClient())
  writeFileSync(join(folder, 'client.d.ts'), declareClient())
}

/** The client as one module. */
export async function bundleClient(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
    entryPoints: ['client/client.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    // All browsers support it whose JSON.parse keeps ids exact.
    target: 'es2022',
    minifySyntax: true,
    tsconfigRaw: '{}',
    plugins: [ownCode],
  })
  return outputFiles.map(({ text }) => compact(text)).join('')
}

/** Spaces, empty lines and the paths of our files take two kilobytes. */
function compact(text: string): string {
  return text
    .replace(/^(?: {2})+/gm, (spaces) => '\t'.repeat(spaces.length / 2))
    .replace(/^(?:\/\/ .*)?\n/gm, '')
}
