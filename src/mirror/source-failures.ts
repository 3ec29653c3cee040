import { ConnectionError, ServiceError, UnexpectedResponseError } from '../../client/client.ts'
import { codeOf, UserError } from '../system/user-errors.ts'

/** Ends a mirror command until the operator does something. The message says what, in one line. */
export class MirrorError extends UserError {}

/** The source does not respond, or only with a temporary failure. */
export class SourceUnavailable extends UserError {}

const RESTART =
  'the source does not have the changes that follow: they are no longer retained, it was restored from a backup, ' +
  'or it is another database; start the mirror with --restart to copy all plants again'

const NEW_TOKEN =
  'the source rejects the access token; create one there with "plant-store token create --scope read"'

const ADVICE: { readonly [condition in ServiceError['condition']]?: string } = {
  'cursor-expired': RESTART,
  'cursor-malformed': RESTART,
  'token-missing': NEW_TOKEN,
  'token-invalid': NEW_TOKEN,
  'insufficient-scope': NEW_TOKEN,
}

/** The error for an answer that no plant store sends. */
export function brokenAnswer(fault: string): MirrorError {
  return new MirrorError(`the source has sent ${fault}; check the URL, and proxies on the way`)
}

/** Turns an error of the client into a MirrorError or SourceUnavailable. Returns any other error unchanged. */
export function explainFailure(error: unknown): unknown {
  if (error instanceof ConnectionError) {
    // Our own `fetch` has refused the answer.
    if (error.cause instanceof MirrorError) return error.cause
    return new SourceUnavailable(`${error.message}: ${describeCause(error)}`)
  }
  const isResponse = error instanceof ServiceError || error instanceof UnexpectedResponseError
  if (!isResponse) return error
  const { status, message } = error
  if (status >= 500 || status === 429 || status === 408) {
    return new SourceUnavailable(`the source responds with status ${status}: ${message}`)
  }
  if (!(error instanceof ServiceError)) return brokenAnswer(`an ${message}`)
  return new MirrorError(ADVICE[error.condition] ?? `the source refuses the request: ${message}`)
}

/** The innermost cause names the reason, such as ECONNREFUSED. */
function describeCause(error: Error): string {
  if (error.cause instanceof Error) return describeCause(error.cause)
  // The error for several addresses has only a code.
  return error.message || String(codeOf(error))
}
