/**
 * Data derived from the contract. Deriving it takes a third of a start, so `npm run generate` stores it in files. Each
 * contains a digest of its source and is ignored once the source has changed.
 */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The data derived from a source; undefined if the file is for another source. */
export function readDerived<Value>(name: string, source: string): Value | undefined {
  const stored = JSON.parse(readFileSync(derivedFile(name), 'utf8'))
  return stored.digest === digestOf(source) ? stored.value : undefined
}

/** The content of the file for data derived from a source. */
export function formatDerived(source: string, value: object): string {
  return `${JSON.stringify({ digest: digestOf(source), value })}\n`
}

export function derivedFile(name: string): URL {
  return new URL(`${name}.gen.json`, import.meta.url)
}

function digestOf(source: string): string {
  return hash('sha256', source)
}
