/** Makes `dist`, which the package has in place of the sources: JavaScript, its types, and what it reads. */
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
cpSync('src', 'dist/src', { recursive: true, filter: (file) => !/\.(ts|md)$/.test(file) })
execFileSync('tsc', ['--project', 'tsconfig.build.json'], { stdio: 'inherit' })
