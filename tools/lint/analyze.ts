/**
 * Runs a tool of this folder: `node tools/lint/analyze.ts biome check`. No test needs these tools, so `npm ci` leaves
 * them out, and this installs them.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { installTools } from './install.ts'

const [tool = '', ...args] = process.argv.slice(2)
installTools(import.meta.dirname)
const command = join(import.meta.dirname, 'node_modules/.bin', tool)
const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
if (error !== undefined) throw error
process.exitCode = status ?? 1
