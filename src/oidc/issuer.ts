import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config/config.ts'
import type { ReadKeys } from './issuer-keys.ts'
import type { IssuerTokens } from './issuer-tokens.ts'

/**
 * Verifies the tokens of the configured issuer, if there is one.
 *
 * @param readKeys reads the issuer's keys
 */
export async function openIssuer(
  { oidcIssuer: issuer, oidcAudience: audience, oidcReadScope, oidcWriteScope }: Config,
  readKeys: ReadKeys,
  log?: FastifyBaseLogger,
): Promise<IssuerTokens | undefined> {
  if (issuer === undefined || audience === undefined) return undefined
  // Imported late, because few services have an issuer.
  const { IssuerTokens } = await import('./issuer-tokens.ts')
  const scopes = { read: oidcReadScope, write: oidcWriteScope }
  return new IssuerTokens({ issuer, audience, scopes, readKeys, log })
}
