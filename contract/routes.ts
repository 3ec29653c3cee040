import type { FastifySchema } from 'fastify'
import { type ContractDocument, resolveReference, type Schema } from './contract.ts'
import { readDerived } from './derived.ts'

/** The route of an operation, as Fastify takes it. */
export interface OperationRoute {
  readonly method: string
  readonly url: string
  /** The schemas of requests and responses, without references. */
  readonly schema: FastifySchema & { readonly operationId: string }
}

/**
 * The routes of a contract: those that `npm run generate` has stored, or derived from it if it has changed since.
 *
 * @throws Error if the contract is not a valid OpenAPI document
 */
export async function loadRoutes(document: ContractDocument): Promise<readonly OperationRoute[]> {
  return readDerived('routes', JSON.stringify(document)) ?? (await deriveRoutes(document))
}

/** Derives the routes with fastify-openapi-glue, which checks the contract against the schema of OpenAPI. */
export async function deriveRoutes(document: ContractDocument): Promise<OperationRoute[]> {
  const [{ fastify }, { default: openapiGlue }] = await Promise.all([
    import('fastify'),
    import('fastify-openapi-glue'),
  ])
  const routes: OperationRoute[] = []
  const app = fastify({ exposeHeadRoutes: false })
  app.addHook('onRoute', ({ method, url, schema }) => {
    routes.push(structuredClone({ method, url, schema }) as OperationRoute)
  })
  await app.register(openapiGlue, { specification: forSerializer(document), serviceHandlers: {} })
  await app.close()
  return routes
}

/**
 * A copy of the contract for Fastify's serializer. A schema with alternatives becomes one with the members of all of
 * them, because the serializer would validate each value against every alternative.
 */
export function forSerializer(document: ContractDocument): ContractDocument {
  const copy = structuredClone(document)
  const { schemas } = copy.components
  for (const [name, { oneOf }] of Object.entries(schemas)) {
    if (oneOf !== undefined) schemas[name] = mergeAlternatives(copy, oneOf)
  }
  return copy
}

/** An object schema with the members of some others. Those of the first ones take precedence. */
function mergeAlternatives(document: ContractDocument, alternatives: readonly Schema[]): Schema {
  const schemas = alternatives.map(({ $ref }) => resolveReference(document, String($ref)) as Schema)
  const properties = Object.assign({}, ...schemas.toReversed().map((each) => each.properties))
  return { type: 'object', properties }
}
