/**
 * `notes.ts v1.2.3` prints what CHANGELOG.md says about that version. Fails unless it is the version in package.json,
 * so that a tag never releases another one.
 */
import { readFileSync } from 'node:fs'

const [tag] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
if (tag !== `v${version}`) {
  fail(`the tag is ${tag}, but package.json contains the version ${version}`)
}
const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m)
const notes = sections.find((section) => section.startsWith(`${version}\n`))
if (notes === undefined) fail(`CHANGELOG.md has no section "## ${version}"`)
console.log(notes.slice(version.length).trim())

function fail(reason: string): never {
  console.error(reason)
  process.exit(1)
}
