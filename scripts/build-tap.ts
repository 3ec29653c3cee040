/**
 * Builds tap with the plugins in `.taprc`, unless that build already exists. Runs after every install, because it takes
 * a while, and again before `npm test`, in case install scripts were disabled. It is not npm's `prepare`, about which
 * npm warns everyone who installs the package. tap would build itself on its first run, but continue that run with its
 * default plugins, which takes twice as long and measures coverage incorrectly.
 */
import { execFileSync } from 'node:child_process'

// First, because @tapjs/test cannot be loaded before the modules that this one loads.
const { TapConfig } = await import('@tapjs/config')
const { signature } = await import('@tapjs/test')
const { pluginSignature } = await TapConfig.load()
if (signature !== pluginSignature) execFileSync('tap', ['build'], { stdio: 'inherit' })
