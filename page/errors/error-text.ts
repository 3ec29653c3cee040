import {
  ConnectionError,
  ServiceError,
  UnexpectedResponseError,
  UnknownOutcomeError,
} from '../../client/client.ts'
import { propertiesOf } from '../../core/known.ts'
import { SignInError } from './sign-in-error.ts'

/** The statuses of a service, or a proxy, that is unavailable for the moment. */
const TRANSIENT = new Set([408, 429, 500, 502, 503, 504])

/** Says in plain words why signing in, or a call of the client, failed. */
export function explain(error: unknown): string {
  if (error instanceof SignInError) return error.message
  if (error instanceof ConnectionError) return 'The service could not be reached.'
  if (error instanceof UnexpectedResponseError) {
    return `The service, or a proxy in front of it, responded with status ${error.status}.`
  }
  if (error instanceof UnknownOutcomeError) {
    return 'The connection was lost, so it is unknown whether this was saved. Sending it again is safe.'
  }
  if (!(error instanceof ServiceError)) return `Unexpected error: ${String(error)}`
  if (error.status === 401) return 'The token is unknown, expired or revoked.'
  if (error.status === 429) return `Too many requests. Try again in ${error.retryAfter} seconds.`
  if (error.status === 413) return 'The text of this plant is too long for this service.'
  return toSentence(messageOf(error))
}

/** The message of the service without the index of a change, which is alone in its list once it is refused. */
export function messageOf({ message }: ServiceError): string {
  return message.replace(/^body\/0: /, '').replace(/^body\/0/, 'body')
}

/** Makes a sentence of a message of the service. They are written for people. */
export function toSentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}

/** Whether the same call can succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof UnknownOutcomeError) return true
  if (error instanceof SignInError) return error.kind === 'unavailable'
  return TRANSIENT.has(Number(propertiesOf(error).status))
}

/** Whether the service or the issuer no longer accepts the person or the token, or never did. */
export function isRejected(error: unknown): boolean {
  if (error instanceof SignInError) return error.kind === 'ended'
  return error instanceof ServiceError && error.status === 401
}
