/** Signatures of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks). */
import { createHmac, randomBytes } from 'node:crypto'
import type { Webhook } from '../../service/webhook-store.ts'

const PREFIX = 'whsec_'

/** The specification allows 24 to 64. */
const SECRET_BYTES = 32

/** A new random secret. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** The secrets that sign deliveries: for some time after a rotation, the old one too. */
export function currentSecrets(
  { secret, previousSecret, previousUntil }: Webhook,
  now: number,
): string[] {
  const isRotating = previousSecret !== undefined && now < Number(previousUntil)
  return isRotating ? [secret, previousSecret] : [secret]
}

/** What a signature covers. */
export interface SignedContent {
  readonly id: string
  /** In seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/** The header `webhook-signature`, with one signature for each secret. */
export function sign({ id, timestamp, body }: SignedContent, secrets: readonly string[]): string {
  return secrets
    .map((secret) => Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .map((key) => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ')
}
