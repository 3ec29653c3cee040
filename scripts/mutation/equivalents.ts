import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Mutant } from './mutant.ts'

/** A mutant that behaves like the original, and the reason why. */
export interface Equivalent {
  readonly file: string
  /** The line on which the mutant starts, without indentation. */
  readonly line: string
  readonly original: string
  readonly replacement: string
  readonly reason: string
}

/** Reads a YAML list of equivalent mutants. */
export function readEquivalents(file: URL): Equivalent[] {
  return (parse(readFileSync(file, 'utf8')) as Equivalent[] | null) ?? []
}

/**
 * Whether an entry describes a mutant. Ignores line numbers and whitespace, so that other edits do not invalidate it.
 */
export function matches(entry: Equivalent, mutant: Mutant): boolean {
  return (
    entry.file === mutant.file &&
    collapseWhitespace(entry.line) === collapseWhitespace(mutant.lineText) &&
    collapseWhitespace(entry.original) === collapseWhitespace(mutant.original) &&
    collapseWhitespace(entry.replacement) === collapseWhitespace(mutant.replacement)
  )
}

/** Replaces newlines and indentation with single spaces. */
export function collapseWhitespace(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
