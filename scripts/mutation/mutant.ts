import ts from 'typescript'
import type { Edit } from './edit.ts'
import { createEdits } from './mutators.ts'

/** One change to one source file. */
export interface Mutant extends Edit {
  /** A path relative to the project. */
  readonly file: string
  /** Counted from 1, as editors do. */
  readonly line: number
  readonly column: number
  /** The code that the edit replaces. */
  readonly original: string
  /** The whole line on which the edit starts. */
  readonly lineText: string
}

/** Finds all mutants of a source file, ordered by position and without duplicates. */
export function findMutants(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const lines = text.split('\n')
  const mutants = new Map<string, Mutant>()
  for (const edit of findEdits(source)) {
    const { line, character } = source.getLineAndCharacterOfPosition(edit.start)
    const original = text.slice(edit.start, edit.end)
    const key = `${edit.start}-${edit.end} ${edit.replacement}`
    if (original === edit.replacement || mutants.has(key)) continue
    mutants.set(key, {
      ...edit,
      file,
      line: line + 1,
      column: character + 1,
      original,
      lineText: lines[line] ?? '',
    })
  }
  return [...mutants.values()].toSorted((one, other) => one.start - other.start)
}

/** Formats the position of a mutant as `--mutate` accepts it. */
export function formatLocation({ file, line, column }: Mutant): string {
  return `${file}:${line}:${column}`
}

function* findEdits(node: ts.Node): Generator<Edit> {
  if (isErased(node)) return
  yield* createEdits(node)
  const children: ts.Node[] = []
  ts.forEachChild(node, (child) => {
    children.push(child)
  })
  for (const child of children) yield* findEdits(child)
}

/** Types do not exist at run time, and a changed import would only prevent the program from starting. */
function isErased(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    (ts.canHaveModifiers(node) && isDeclared(node))
  )
}

function isDeclared(node: ts.HasModifiers): boolean {
  const modifiers = ts.getModifiers(node) ?? []
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword)
}
