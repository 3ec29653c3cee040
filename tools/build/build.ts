/** Builds `dist`, which the package contains instead of the sources: JavaScript, type declarations and data files. */
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { hasDevelopmentDependencies } from './development-dependencies.js'

if (!hasDevelopmentDependencies()) {
  console.error('npm run build needs the development dependencies: run npm ci')
  process.exit(1)
}
rmSync('dist', { recursive: true, force: true })
// First, so that a service that runs in this checkout lacks it only for a moment.
await import('./build-page.ts')
cpSync('src', 'dist/src', { recursive: true, filter: (file) => !/\.(ts|md)$/.test(file) })
execFileSync('tsc', ['--project', 'tools/build/tsconfig.json'], { stdio: 'inherit' })
// In place of its modules, which the mirror imports: there must be only one class for each error.
rmSync('dist/client', { recursive: true })
const { writeClient } = await import('./client-bundle.ts')
await writeClient('dist/client')
