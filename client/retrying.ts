import { ConnectionError, FailedAnswer, hasCondition, UnknownOutcomeError } from './errors.ts'

/** When and how often a request is sent again. Times are in milliseconds. */
export interface RetryOptions {
  /** How many more times at most; 0 for never. */
  readonly retries?: number | undefined
  /** The wait before the first of them, on top of what `Retry-After` asks for; then it doubles. */
  readonly retryDelay?: number | undefined
  /** The longest wait. A failure whose `Retry-After` asks for more is thrown at once. */
  readonly maxRetryDelay?: number | undefined
  /** How long each try may take, to the end of its answer. */
  readonly timeout?: number | undefined
}

/** Takes what ends it early, and how an earlier try ended that may have taken effect. */
type Attempt<Answer> = (signal: AbortSignal, earlier?: Error) => Promise<Answer>

/** Says that nothing was done, as the client asks too often (RFC 6585 §4). */
const TOO_MANY_REQUESTS = 429

/** What may pass: the service cannot work, or a proxy cannot reach it (RFC 9110 §15.6). */
const TRANSIENT = new Set([TOO_MANY_REQUESTS, 502, 503, 504])

/**
 * Tries until there is an answer, or a failure that another try would not help. That is safe for every
 * operation of the contract: done twice it leaves what it leaves done once (RFC 9110 §9.2.2), and so does
 * the merge patch, as it sets what it names.
 *
 * @throws what the last try throws; the reason of `signal` as soon as that is aborted
 * @throws UnknownOutcomeError if the plant is not as in `If-Match`, perhaps by an earlier try
 */
export async function retrying<Answer>(
  attempt: Attempt<Answer>,
  { retries = 4, retryDelay = 250, maxRetryDelay = 30_000, timeout = 30_000 }: RetryOptions,
  signal?: AbortSignal,
): Promise<Answer> {
  let earlier: Error | undefined
  for (let tries = 0; tries < retries; tries++) {
    try {
      return await once(attempt, timeout, signal, earlier)
    } catch (error) {
      if (!isTransient(error)) throw error
      const asked = error instanceof FailedAnswer ? 1000 * (error.retryAfter ?? 0) : 0
      if (asked > maxRetryDelay) throw error
      if (mayHaveTakenEffect(error)) earlier = error
      const backoff = Math.min(retryDelay * 2 ** tries, maxRetryDelay)
      // Clients that have failed together shall not come back together.
      await wait(asked + backoff * (0.5 + Math.random() / 2), signal)
    }
  }
  return once(attempt, timeout, signal, earlier)
}

async function once<Answer>(
  attempt: Attempt<Answer>,
  timeout: number,
  signal: AbortSignal | undefined,
  earlier: Error | undefined,
): Promise<Answer> {
  const ends = [AbortSignal.timeout(timeout), ...(signal ? [signal] : [])]
  try {
    return await attempt(AbortSignal.any(ends), earlier)
  } catch (error) {
    signal?.throwIfAborted()
    throw earlier && hasCondition(error, 'plant-changed') ? unknownOutcome(earlier, error) : error
  }
}

function unknownOutcome(earlier: Error, { message }: Error): UnknownOutcomeError {
  const text = `whether the change took effect is not known: ${earlier.message}; then ${message}`
  return new UnknownOutcomeError(text, { cause: earlier })
}

function isTransient(error: unknown): error is FailedAnswer | ConnectionError {
  if (error instanceof ConnectionError) return true
  return error instanceof FailedAnswer && TRANSIENT.has(error.status)
}

function mayHaveTakenEffect(error: FailedAnswer | ConnectionError): boolean {
  return !(error instanceof FailedAnswer && error.status === TOO_MANY_REQUESTS)
}

/** @throws the reason of the signal, as soon as it is aborted */
function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', abort)
  })
}
