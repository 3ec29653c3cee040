/**
 * All operations that clients send. To add one, add an entry: the load, the history and the judges need no more.
 *
 * `weight` is how often clients choose it, relative to the others.
 */
import { type Call, isOpen, isRefused } from '../history.ts'
import { create, createBatch, remove, replace, update } from './changes.ts'
import { changeList } from './lists.ts'
import type { Operation } from './operation.ts'
import { get, getMany, head, list, listTags, search } from './reads.ts'
import type { Step } from './register.ts'

export const OPERATIONS: Readonly<Record<string, Operation & { readonly weight: number }>> = {
  create: { ...create, weight: 6 },
  createBatch: { ...createBatch, weight: 3 },
  changeList: { ...changeList, weight: 4 },
  replace: { ...replace, weight: 4 },
  update: { ...update, weight: 4 },
  remove: { ...remove, weight: 7 },
  get: { ...get, weight: 4 },
  head: { ...head, weight: 1 },
  list: { ...list, weight: 2 },
  getMany: { ...getMany, weight: 1 },
  search: { ...search, weight: 1 },
  listTags: { ...listTags, weight: 1 },
}

export function operationOf({ operation }: Call): Operation {
  const found = OPERATIONS[operation]
  if (found === undefined) throw new Error(`unknown operation ${operation}`)
  return found
}

/** Whether a call changes plants, if it succeeds. */
export function isChange(call: Call): boolean {
  const { method } = operationOf(call).request(call.arguments)
  return method !== 'GET' && method !== 'HEAD'
}

/**
 * The steps of a call. An open read and a refused call have none.
 *
 * @throws Error if no order of calls explains the response
 */
export function stepsOf(call: Call): readonly Step[] {
  const operation = operationOf(call)
  if (isRefused(call)) return []
  if (!isOpen(call)) return operation.steps(call)
  if (!isChange(call)) return []
  const { client, arguments: given, called } = call
  return operation.steps({ client, operation: call.operation, arguments: given, called })
}
