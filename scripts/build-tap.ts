/**
 * Builds tap with the plugins of `.taprc` unless it already is. Runs after every install, because the build takes a
 * while, and again before `npm test`, for an install without scripts. tap would build itself on its first run, but that
 * run continues with the plugins it came with: it takes twice as long and measures coverage wrongly.
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
