import type { ChangeOptions } from './types.ts'

/**
 * The parameters of a change, for openapi-fetch.
 *
 * @throws TypeError if the id is not a bigint
 */
export function changeParameters(id: bigint, { ifMatch }: ChangeOptions = {}) {
  return { path: pathParameters(id), header: ifMatch === undefined ? {} : { 'If-Match': ifMatch } }
}

/** @throws TypeError if the id is not a bigint */
export function pathParameters(id: bigint): { id: bigint } {
  checkId(id)
  return { id }
}

/**
 * A JavaScript caller could pass a number, which may already be rounded.
 *
 * @throws TypeError if the id is not a bigint
 */
export function checkId(id: unknown): void {
  if (typeof id === 'bigint') return
  throw new TypeError(
    `invalid id: expected a bigint such as 4n, not the ${typeof id} ${String(id)}`,
  )
}
