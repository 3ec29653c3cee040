import { type ContractDocument, resolveReference } from '../../core/contract/contract.ts'
import { type ErrorCode, errorCodes } from '../../core/generated/error-codes.gen.ts'

/** The errors that the contract documents for each operation, by its id, with the messages of their examples. */
export type DocumentedErrors = ReadonlyMap<string, ReadonlyMap<ErrorCode, string>>

interface ResponseObject {
  readonly content?: {
    readonly 'application/json'?: { readonly examples: { readonly [name: string]: object } }
  }
}

interface Example {
  readonly value: { readonly message: string }
}

export function documentedErrors(document: ContractDocument): DocumentedErrors {
  const resolve = (part: object): object =>
    '$ref' in part ? (resolveReference(document, String(part.$ref)) as object) : part
  const errorsOf = (response: object): [ErrorCode, string][] => {
    const { content }: ResponseObject = resolve(response)
    return Object.entries(content?.['application/json']?.examples ?? {})
      .filter(([name]) => Object.hasOwn(errorCodes, name))
      .map(([name, example]) => [name as ErrorCode, (resolve(example) as Example).value.message])
  }
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item))
  return new Map(
    operations.map(({ operationId, responses }) => [
      String(operationId),
      new Map(Object.values(responses).flatMap(errorsOf)),
    ]),
  )
}
