/**
 * Probes record which blocks of code a test reaches. V8's own coverage is lost when a process is killed, and many tests
 * send SIGKILL.
 */
import ts from 'typescript'

/** The file in a workspace that the probes import. */
export const PROBE_FILE = '.probe.mjs'

/**
 * A block statement, the expression of an arrow function, or a whole module. Its start identifies it within the file.
 */
export interface Block {
  readonly start: number
  readonly end: number
}

/** The blocks of a file, outer before inner. The first is the module. */
export function findBlocks(text: string): Block[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true)
  const blocks: Block[] = [{ start: 0, end: text.length }]
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || isConciseBody(node)) {
      blocks.push({ start: node.getStart(), end: node.getEnd() })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return blocks
}

function isConciseBody(node: ts.Node): boolean {
  const { parent } = node
  return parent !== undefined && ts.isArrowFunction(parent) && parent.body === node
}

/** The innermost block that contains an edit. */
export function findBlockAround(blocks: readonly Block[], edit: Block): Block {
  const around = blocks.filter(({ start, end }) => start <= edit.start && edit.end <= end)
  return around.at(-1) as Block
}

/**
 * Inserts a probe into each block of a source file, without changing its line numbers.
 *
 * @param name the name of the file in the records
 * @param probe the absolute path of the file with `probeSource`
 */
export function instrument(text: string, name: string, probe: string): string {
  const insertions: { at: number; order: number; code: string }[] = []
  for (const [order, { start, end }] of findBlocks(text).entries()) {
    const call = `__reach(${JSON.stringify(`${name} ${start}`)})`
    if (order === 0) {
      const code = `import { reach as __reach } from ${JSON.stringify(probe)}; ${call}; `
      insertions.push({ at: 0, order, code })
    } else if (text[start] === '{') {
      insertions.push({ at: start + 1, order, code: ` ${call}; ` })
    } else {
      insertions.push({ at: start, order, code: `(${call}, ` })
      insertions.push({ at: end, order: -order, code: ')' })
    }
  }
  // From the end, so that earlier positions stay valid.
  insertions.sort((one, other) => other.at - one.at || other.order - one.order)
  return insertions.reduce(
    (code, insertion) => code.slice(0, insertion.at) + insertion.code + code.slice(insertion.at),
    text,
  )
}

/**
 * The source of the module that the probes import.
 *
 * @param records the file to which it appends `name start` for each block, once per process or thread
 */
export function probeSource(records: string): string {
  return `import { appendFileSync } from 'node:fs'
const seen = new Set()
export function reach(block) {
  if (seen.has(block)) return
  seen.add(block)
  // Some tests use up the file descriptors or the disk, or remove permissions.
  try {
    appendFileSync(${JSON.stringify(records)}, block + '\\n', { mode: 0o666 })
  } catch {}
}
`
}
