/**
 * Builds tap with the plugins in `.taprc`, unless that build already exists. tap would build itself, but finish its first
 * run with its default plugins, which is twice as slow and measures coverage incorrectly.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const wanted = readFileSync('.taprc', 'utf8')
const built = 'node_modules/.tap-built'

if (!existsSync(built) || readFileSync(built, 'utf8') !== wanted) {
  execFileSync('tap', ['build'], { stdio: 'inherit' })
  writeFileSync(built, wanted)
}
