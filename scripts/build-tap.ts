/**
 * Builds tap with the plugins in `.taprc`, unless that build already exists. Runs after every install, because it takes
 * a while, and again before `npm test`, in case install scripts were disabled. tap would build itself on its first run,
 * but continue that run with its default plugins, which takes twice as long and measures coverage incorrectly.
 */
import { execFileSync } from 'node:child_process'

const [tap, config] = await Promise.allSettled([
  import('@tapjs/test/test-built'),
  import('@tapjs/config'),
])

// Without its development dependencies, the package has no tests to run.
if (tap.status === 'fulfilled' && config.status === 'fulfilled') {
  const { pluginSignature } = await config.value.TapConfig.load()
  if (tap.value.signature !== pluginSignature) execFileSync('tap', ['build'], { stdio: 'inherit' })
}
