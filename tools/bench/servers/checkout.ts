import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export interface Checkout {
  /** Its short hash. */
  readonly name: string
  /** Its executable. */
  readonly program: string
}

/**
 * Exports a commit to a folder in the temporary folder and installs its dependencies, unless an earlier run has. The
 * repository itself is only read.
 *
 * @throws Error if there is no such commit, or npm fails
 */
export function checkOut(commit: string): Checkout {
  const revision = ['rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`]
  const hash = run(ROOT, 'git', revision).trim()
  const folder = join(tmpdir(), 'plant-store-bench', hash)
  if (!existsSync(folder)) install(hash, folder)
  return { name: hash.slice(0, 7), program: join(folder, 'bin', 'plant-store.js') }
}

/** The short hash of the commit that is checked out here, with `-dirty` if there are changes. */
export function describeWorkingTree(): string {
  return run(ROOT, 'git', ['describe', '--always', '--dirty', '--exclude=*']).trim()
}

/** Renames the folder only when it is complete, so that an interrupted run does not leave an incomplete one. */
function install(hash: string, folder: string): void {
  console.log(`installing ${hash} in ${folder}`)
  mkdirSync(join(folder, '..'), { recursive: true })
  const partial = mkdtempSync(`${folder}-`)
  try {
    const archive = join(partial, '.archive.tar')
    run(ROOT, 'git', ['archive', '--output', archive, hash])
    run(partial, 'tar', ['-xf', archive])
    rmSync(archive)
    run(partial, 'npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'])
    renameSync(partial, folder)
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}

function run(cwd: string, program: string, args: readonly string[]): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
