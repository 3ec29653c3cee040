/** Builds `dist`, which the package contains instead of the sources: JavaScript, type declarations and data files. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { bundlePage } from '../src/http/page/bundle.ts'

if (!existsSync('node_modules/typescript')) {
  console.error('npm run build needs the development dependencies: run npm ci')
  process.exit(1)
}
rmSync('dist', { recursive: true, force: true })
for (const folder of ['src', 'contract']) {
  cpSync(folder, `dist/${folder}`, { recursive: true, filter: (file) => !/\.(ts|md)$/.test(file) })
}
execFileSync('tsc', ['--project', 'tsconfig.build.json'], { stdio: 'inherit' })
mkdirSync('dist/page')
for (const [name, content] of await bundlePage()) writeFileSync(`dist/page/${name}`, content)
