import { StoreUnavailable } from '../../service/plant-store.ts'

/** The outcome of a call in another thread. Errors lose their class between threads. */
export type Reply<Result> =
  | { readonly result: Result }
  | { readonly unavailable: Pick<StoreUnavailable, 'reason' | 'detail'> }
  | { readonly error: unknown }

/** The reply to a call that failed. */
export function toReply(error: unknown): Reply<never> {
  if (!(error instanceof StoreUnavailable)) return { error }
  return { unavailable: { reason: error.reason, detail: error.detail } }
}

/** Settles the promise of a call as its reply says. */
export function fromReply<Result>(
  reply: Reply<Result>,
  pending: Pick<PromiseWithResolvers<Result>, 'resolve' | 'reject'> | undefined,
): void {
  if ('result' in reply) pending?.resolve(reply.result)
  else if ('error' in reply) pending?.reject(reply.error)
  else pending?.reject(toError(reply.unavailable))
}

function toError({ reason, detail }: Pick<StoreUnavailable, 'reason' | 'detail'>) {
  return new StoreUnavailable(reason, detail)
}
