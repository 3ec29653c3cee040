/** npm's `dependencies` hook, which runs after every install: prepares a checkout for those who work on it. */
import { hasDevelopmentDependencies } from './development-dependencies.js'

if (hasDevelopmentDependencies()) {
  await import('./build-tap.ts')
  await import('./build-page.ts')
}
