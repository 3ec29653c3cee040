/** Names that occur in the contract. */
import type { ContractDocument } from './contract.ts'
import { resolveReference } from './reference.ts'

/** A response, or a reference to one. */
interface ResponseObject {
  readonly $ref?: string
  readonly headers?: object
}

/** The methods of all operations, in upper case. HEAD is one of them, because it works wherever GET does. */
export function methodNames({ paths }: ContractDocument): string[] {
  const methods = Object.values(paths).flatMap((item) => Object.keys(item))
  const names = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : method))
  return [...new Set(names.map((name) => name.toUpperCase()))]
}

/** The headers of all responses, as the contract spells them. */
export function responseHeaderNames(document: ContractDocument): string[] {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item))
  const byStatus = operations.map(({ responses }) => responses)
  const responses = [...byStatus, { ...document['x-responses-outside-operations'] }]
    .flatMap((each) => Object.values(each) as ResponseObject[])
    .map(({ $ref, ...response }) =>
      $ref === undefined ? response : (resolveReference(document, $ref) as ResponseObject),
    )
  return [...new Set(responses.flatMap(({ headers = {} }) => Object.keys(headers)))]
}
