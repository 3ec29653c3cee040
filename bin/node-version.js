/** Runs on every version of Node that has ES modules, so it uses nothing newer. */
import { readFileSync } from 'node:fs'

/**
 * Compares a version of Node with the one that package.json requires.
 *
 * @param {string} version such as `20.19.0`
 * @returns {string | undefined} one line for the user, or undefined if the version is supported
 */
export function unsupportedNode(version = process.versions.node) {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const required = engines.node.replace('>=', '')
  const [major, minor] = version.split('.').map(Number)
  const [requiredMajor, requiredMinor] = required.split('.').map(Number)
  if (major > requiredMajor || (major === requiredMajor && minor >= requiredMinor)) return undefined
  return `Node ${required} or later is required, but this is Node ${version}`
}

/**
 * @param {string} [version]
 * @throws {Error} if this version of Node is not supported
 */
export function assertSupportedNode(version) {
  const reason = unsupportedNode(version)
  if (reason !== undefined) throw new Error(`plant-store: ${reason}`)
}
