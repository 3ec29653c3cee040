import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Mutant } from './mutant.ts'

/** A mutant that behaves as the original does, with the reason. */
export interface Equivalent {
  readonly file: string
  /** The line on which the mutant starts, without indentation. */
  readonly line: string
  readonly original: string
  readonly replacement: string
  readonly reason: string
}

/** @param file a YAML list of equivalent mutants */
export function readEquivalents(file: URL): Equivalent[] {
  return (parse(readFileSync(file, 'utf8')) as Equivalent[] | null) ?? []
}

/** Whether the entry is about this mutant, wherever its line is now. White space does not count. */
export function matches(entry: Equivalent, mutant: Mutant): boolean {
  return (
    entry.file === mutant.file &&
    flat(entry.line) === flat(mutant.lineText) &&
    flat(entry.original) === flat(mutant.original) &&
    flat(entry.replacement) === flat(mutant.replacement)
  )
}

/** @returns the text on one line */
export function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
