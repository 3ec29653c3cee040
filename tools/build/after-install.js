/**
 * Prepares a checkout for those who work on it. This is npm's `postprepare`, which `npm ci` and `npm install` run: npm
 * hides what the `dependencies` hook prints, and warns everyone who installs the package about `prepare`.
 */
import { rmSync } from 'node:fs'
import { unsupportedNode } from '../../bin/node-version.js'
import { hasDevelopmentDependencies } from './development-dependencies.js'

// This may already be the Node that npm has installed.
const [, version] = /\bnode\/v(\S+)/.exec(process.env.npm_config_user_agent ?? '') ?? []
const unsupported = unsupportedNode(version)

if (hasDevelopmentDependencies()) {
  // The package `node` has linked its program into its own folder. The rest is 67 MB of headers for C.
  rmSync(new URL('../../node_modules/node/node_modules', import.meta.url), {
    recursive: true,
    force: true,
  })
  await import('../tap/build-tap.ts')
  await import('./build-page.ts')
}
if (unsupported !== undefined) {
  const remedy = hasDevelopmentDependencies()
    ? `use npm start, npm test and npx, which run Node ${process.versions.node}`
    : 'update Node, or run npm ci without --omit=dev, which also installs a newer one'
  console.log(`plant-store: ${unsupported}: ${remedy}`)
}
