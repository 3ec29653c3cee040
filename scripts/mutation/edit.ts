import type ts from 'typescript'

/** Replaces the characters from `start` up to, but not including, `end`. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/** Creates an edit that replaces a node. */
export function replace(node: ts.Node, replacement: string): Edit {
  return { start: node.getStart(), end: node.getEnd(), replacement }
}

/** Applies an edit to the text of a file. */
export function apply(text: string, { start, end, replacement }: Edit): string {
  return text.slice(0, start) + replacement + text.slice(end)
}
