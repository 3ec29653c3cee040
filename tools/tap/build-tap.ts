/**
 * Builds tap with the plugins in `package.json`, unless that build already exists. Runs after every install, because it
 * takes a while, and again before `npm test`, in case install scripts were disabled. tap would build itself on its first run,
 * but continue that run with its default plugins, which takes twice as long.
 */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'

removeLink()
// First, because @tapjs/test cannot be loaded before the modules that this one loads.
const { TapConfig } = await import('@tapjs/config')
const { signature } = await import('@tapjs/test')
const { pluginSignature } = await TapConfig.load()
if (signature !== pluginSignature) {
  execFileSync('tap', ['build'], { stdio: 'inherit' })
  removeLink()
}

/**
 * For plugins that a project downloads, tap links to its core here. The link is absolute, so in a checkout that was
 * moved or copied, tests would load the core of the old one.
 */
function removeLink(): void {
  rmSync('.tap/plugins', { recursive: true, force: true })
}
