import ts from 'typescript'
import { type Edit, replace } from './edit.ts'

/** The replacements for each operator. */
const OPERATORS: Record<string, readonly string[]> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '&': ['|'],
  '|': ['&'],
  '^': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&&': ['||'],
  '||': ['&&'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '/=': ['*='],
  '&&=': ['||='],
  '||=': ['&&='],
  '??=': ['&&='],
  '++': ['--'],
  '--': ['++'],
}

/** The edits that replace, or remove, the operator of a node; none for a node without one. */
export function operatorEdits(node: ts.Node): Edit[] {
  if (ts.isBinaryExpression(node)) return binaryEdits(node)
  if (ts.isPrefixUnaryExpression(node)) return prefixEdits(node)
  if (!ts.isPostfixUnaryExpression(node)) return []
  return findReplacements(node.operator).map((operator) =>
    replace(node, node.operand.getText() + operator),
  )
}

function binaryEdits({ left, operatorToken, right }: ts.BinaryExpression): Edit[] {
  const { kind } = operatorToken
  if (kind === ts.SyntaxKind.QuestionQuestionToken) {
    // Not `&&`: mixing it with another `??` is a syntax error.
    return [
      { start: left.getEnd(), end: right.getEnd(), replacement: '' },
      { start: left.getStart(), end: right.getStart(), replacement: '' },
    ]
  }
  // Strings cannot be subtracted.
  if (kind === ts.SyntaxKind.PlusToken && (isString(left) || isString(right))) return []
  return findReplacements(kind).map((operator) => replace(operatorToken, operator))
}

function prefixEdits(node: ts.PrefixUnaryExpression): Edit[] {
  const operand = node.operand.getText()
  const replaced = findReplacements(node.operator).map((operator) => operator + operand)
  const isUpdate =
    node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken
  return (isUpdate ? replaced : [operand]).map((text) => replace(node, text))
}

function findReplacements(operator: ts.SyntaxKind): readonly string[] {
  return OPERATORS[ts.tokenToString(operator) ?? ''] ?? []
}

function isString(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)
}
