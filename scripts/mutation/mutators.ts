import ts from 'typescript'
import { type Edit, replace } from './edit.ts'
import { literalEdits } from './literal-mutators.ts'
import { operatorEdits } from './operator-mutators.ts'

/** All edits of a node, excluding those of its children. */
export function createEdits(node: ts.Node): Edit[] {
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

/** Makes a branch always or never taken, and a loop end at once. An endless loop would only time out. */
function conditionEdits(node: ts.Node): Edit[] {
  if (ts.isIfStatement(node)) return replaceCondition(node.expression)
  if (ts.isConditionalExpression(node)) return replaceCondition(node.condition)
  if (ts.isWhileStatement(node) || ts.isDoStatement(node)) {
    return [replace(node.expression, 'false')]
  }
  if (ts.isForStatement(node) && node.condition) return [replace(node.condition, 'false')]
  return []
}

function replaceCondition(condition: ts.Expression): Edit[] {
  return [replace(condition, 'true'), replace(condition, 'false')]
}

/** Removes calls, and the content of blocks. */
function statementEdits(node: ts.Node): Edit[] {
  if (isCallStatement(node)) return [replace(node, ';')]
  if (!ts.isBlock(node) || node.statements.length === 0) return []
  const [first, second] = node.statements
  // Emptying the block is the same as removing its only statement.
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

/** Discards results. */
function returnEdits(node: ts.Node): Edit[] {
  if (ts.isReturnStatement(node) && node.expression) return removeValue(node.expression)
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) return removeValue(node.body)
  return []
}

function removeValue(expression: ts.Expression): Edit[] {
  return expression.getText() === 'undefined' ? [] : [replace(expression, 'undefined')]
}

/** Turns `a?.b` into `a.b`. */
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

/** Methods whose result has the type of their object, which can therefore replace the call. */
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
