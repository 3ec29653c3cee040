import ts from 'typescript'
import { type Edit, replace } from './edit.ts'

/** From here on, being off by one makes no observable difference: 30,001 ms works as well as 30,000 ms. */
const OFF_BY_ONE_MAX = 1000

/** The edits that give a literal a different value; none for any other node. */
export function literalEdits(node: ts.Node): Edit[] {
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [replace(node, 'false')]
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [replace(node, 'true')]
  if (ts.isNumericLiteral(node)) return isKey(node) ? [] : [replace(node, mutateNumber(node.text))]
  if (ts.isBigIntLiteral(node)) return [replace(node, `(${node.getText()} + 1n)`)]
  if (ts.isStringLiteral(node))
    return isKey(node) ? [] : [replace(node, mutateString(node.text, "'"))]
  if (ts.isNoSubstitutionTemplateLiteral(node)) return [replace(node, mutateString(node.text, '`'))]
  if (ts.isTemplateExpression(node)) return [replace(node, '``')]
  if (ts.isRegularExpressionLiteral(node)) return removeAnchors(node)
  if (ts.isObjectLiteralExpression(node)) return isTarget(node) ? [] : [replace(node, '{}')]
  if (ts.isArrayLiteralExpression(node)) return isTarget(node) ? [] : [replace(node, '[]')]
  return []
}

function mutateNumber(text: string): string {
  const number = Number(text)
  return number < OFF_BY_ONE_MAX ? String(number + 1) : '0'
}

function mutateString(text: string, quote: string): string {
  return text === '' ? `${quote}mutated${quote}` : quote + quote
}

/** Whether a literal names a member or a module. */
function isKey(node: ts.StringLiteral | ts.NumericLiteral): boolean {
  const { parent } = node
  if (ts.isCallExpression(parent)) return parent.expression.kind === ts.SyntaxKind.ImportKeyword
  return (ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent)) && parent.name === node
}

/** Whether a literal is the target of an assignment, as in `[a, b] = [b, a]`. */
function isTarget(node: ts.Expression): boolean {
  const { parent } = node
  return ts.isBinaryExpression(parent) && parent.left === node
}

/** Removes `^` from the start of a pattern, or `$` from its end. */
function removeAnchors(node: ts.RegularExpressionLiteral): Edit[] {
  const text = node.getText()
  const end = text.lastIndexOf('/')
  const edits: Edit[] = []
  if (text.startsWith('/^')) edits.push(replace(node, `/${text.slice(2)}`))
  if (text[end - 1] === '$' && text[end - 2] !== '\\') {
    edits.push(replace(node, text.slice(0, end - 1) + text.slice(end)))
  }
  return edits
}
