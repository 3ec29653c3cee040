import type ts from 'typescript'

/** Code to put in place of the characters from `start` to before `end`. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/** @returns the edit that puts `replacement` in place of a node */
export function replace(node: ts.Node, replacement: string): Edit {
  return { start: node.getStart(), end: node.getEnd(), replacement }
}

/** @returns the text of the file after the edit */
export function apply(text: string, { start, end, replacement }: Edit): string {
  return text.slice(0, start) + replacement + text.slice(end)
}
