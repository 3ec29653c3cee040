import ts from 'typescript'
import { type Edit, replace } from './edit.ts'
import { literalEdits } from './literal-mutators.ts'
import { operatorEdits } from './operator-mutators.ts'

/** @returns the edits of one node, without those of its children */
export function editsOf(node: ts.Node): Edit[] {
  return [
    ...conditionEdits(node),
    ...statementEdits(node),
    ...returnEdits(node),
    ...chainEdits(node),
    ...methodEdits(node),
    ...operatorEdits(node),
    ...literalEdits(node),
  ]
}

/** Branches that are always or never taken. A loop is never made endless on purpose. */
function conditionEdits(node: ts.Node): Edit[] {
  if (ts.isIfStatement(node)) return bothWays(node.expression)
  if (ts.isConditionalExpression(node)) return bothWays(node.condition)
  if (ts.isWhileStatement(node) || ts.isDoStatement(node)) {
    return [replace(node.expression, 'false')]
  }
  if (ts.isForStatement(node) && node.condition) return [replace(node.condition, 'false')]
  return []
}

function bothWays(condition: ts.Expression): Edit[] {
  return [replace(condition, 'true'), replace(condition, 'false')]
}

/** Calls that are not made, and blocks that do nothing. */
function statementEdits(node: ts.Node): Edit[] {
  if (isCallStatement(node)) return [replace(node, ';')]
  if (!ts.isBlock(node) || node.statements.length === 0) return []
  const [first, second] = node.statements
  // The same as removing the only statement of the block.
  const isDuplicate = second === undefined && first !== undefined && isRemovable(first)
  return isDuplicate ? [] : [replace(node, '{}')]
}

function isRemovable(statement: ts.Statement): boolean {
  return isCallStatement(statement) || ts.isReturnStatement(statement)
}

function isCallStatement(node: ts.Node): boolean {
  if (!ts.isExpressionStatement(node)) return false
  let { expression } = node
  while (ts.isAwaitExpression(expression) || ts.isVoidExpression(expression)) {
    expression = expression.expression
  }
  return (
    ts.isCallExpression(expression) && expression.expression.kind !== ts.SyntaxKind.SuperKeyword
  )
}

/** Results that are lost. */
function returnEdits(node: ts.Node): Edit[] {
  if (ts.isReturnStatement(node) && node.expression) return withoutValue(node.expression)
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) return withoutValue(node.body)
  return []
}

function withoutValue(expression: ts.Expression): Edit[] {
  return expression.getText() === 'undefined' ? [] : [replace(expression, 'undefined')]
}

/** `a?.b` that expects `a` to exist. */
function chainEdits(node: ts.Node): Edit[] {
  const isChain =
    ts.isPropertyAccessExpression(node) ||
    ts.isElementAccessExpression(node) ||
    ts.isCallExpression(node)
  if (!isChain || !node.questionDotToken) return []
  return [replace(node.questionDotToken, ts.isPropertyAccessExpression(node) ? '.' : '')]
}

const OPPOSITE_METHODS = new Map([
  ['endsWith', 'startsWith'],
  ['startsWith', 'endsWith'],
  ['every', 'some'],
  ['some', 'every'],
  ['max', 'min'],
  ['min', 'max'],
  ['toLowerCase', 'toUpperCase'],
  ['toUpperCase', 'toLowerCase'],
])

/** Methods whose result is of the type of their object. */
const REMOVABLE_METHODS = new Set([
  ...['filter', 'reverse', 'slice', 'sort', 'toReversed', 'toSorted'],
  ...['trim', 'trimEnd', 'trimStart'],
])

function methodEdits(node: ts.Node): Edit[] {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return []
  const { name, expression } = node.expression
  const opposite = OPPOSITE_METHODS.get(name.text)
  if (opposite !== undefined) return [replace(name, opposite)]
  return REMOVABLE_METHODS.has(name.text) ? [replace(node, expression.getText())] : []
}
