/**
 * Runs a tool of this folder: `node tools/lint/analyze.ts biome check`. No test needs these tools, so `npm ci` leaves
 * them out, and this installs them on their first use and whenever their lockfile has changed.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const LOCKFILE = join(import.meta.dirname, 'package-lock.json')
/** The lockfile of the tools that are installed. */
const INSTALLED = join(import.meta.dirname, 'node_modules/.installed-lock.json')

const [tool = '', ...args] = process.argv.slice(2)
if (!isInstalled()) {
  console.error('installing the tools of tools/lint/')
  run('npm', ['ci', '--prefix', import.meta.dirname, '--no-audit', '--no-fund'])
  if (!process.exitCode) copyFileSync(LOCKFILE, INSTALLED)
}
if (!process.exitCode) run(join(import.meta.dirname, 'node_modules/.bin', tool), args)

function isInstalled(): boolean {
  return existsSync(INSTALLED) && readFileSync(INSTALLED).equals(readFileSync(LOCKFILE))
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
  if (error !== undefined) throw error
  process.exitCode = status ?? 1
}
