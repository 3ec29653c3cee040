import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Installs the tools of a folder on their first use and whenever their lockfile has changed. */
export function installTools(folder: string): void {
  const lockfile = join(folder, 'package-lock.json')
  const installed = join(folder, 'node_modules/.installed-lock.json')
  if (existsSync(installed) && readFileSync(installed).equals(readFileSync(lockfile))) return
  console.error(`installing the tools of ${folder}`)
  const args = ['ci', '--prefix', folder, '--no-audit', '--no-fund']
  execFileSync('npm', args, { stdio: ['ignore', process.stderr, process.stderr] })
  copyFileSync(lockfile, installed)
}
