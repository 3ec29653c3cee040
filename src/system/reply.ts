import { propertiesOf } from '../../core/known.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'

/** The outcome of a call in another thread. Errors lose their class and their properties between threads. */
export type Reply<Result> =
  | { readonly result: Result }
  | { readonly unavailable: Pick<StoreUnavailable, 'reason' | 'detail' | 'notice'> }
  | { readonly error: unknown; readonly system?: SystemProperties }

/** Properties by which the errors of the operating system are recognized. */
interface SystemProperties {
  readonly code: unknown
  readonly syscall: unknown
}

/** The reply to a call that failed. */
export function toReply(error: unknown): Reply<never> {
  if (error instanceof StoreUnavailable) {
    const { reason, detail, notice } = error
    return { unavailable: { reason, detail, notice } }
  }
  const { code, syscall } = propertiesOf(error)
  return syscall === undefined ? { error } : { error, system: { code, syscall } }
}

/** Settles the promise of a call as its reply says. */
export function fromReply<Result>(
  reply: Reply<Result>,
  pending: Pick<PromiseWithResolvers<Result>, 'resolve' | 'reject'> | undefined,
): void {
  if ('result' in reply) pending?.resolve(reply.result)
  else pending?.reject(toError(reply))
}

function toError(reply: Exclude<Reply<never>, { result: never }>): unknown {
  if ('error' in reply)
    return reply.system ? Object.assign(propertiesOf(reply.error), reply.system) : reply.error
  const { reason, detail, notice } = reply.unavailable
  return new StoreUnavailable(reason, detail, notice)
}
