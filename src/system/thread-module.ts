import { extname } from 'node:path'
import { type ResourceLimits, type Transferable, Worker, workerData } from 'node:worker_threads'
import { messageOf, UserError } from './user-errors.ts'

export interface ThreadOptions {
  /** Shown by `top -H`, which truncates it to 15 characters. */
  readonly name: string
  readonly transferList?: Transferable[]
  readonly resourceLimits?: ResourceLimits
}

/** A module that runs in a thread of its own. Ties the data that starts it to the data that it receives. */
export class ThreadModule<Data> {
  readonly #url: URL

  /**
   * @param name of the file, without its extension: `.ts` in the repository, `.js` in the published package
   * @param sibling `import.meta.url` of a module in the same folder
   */
  constructor(name: string, sibling: string) {
    this.#url = new URL(`./${name}${extname(sibling)}`, sibling)
  }

  /**
   * @param data must be cloneable, apart from what is in `transferList`
   * @throws ThreadFailure if the system allows no more threads
   */
  start(data: Data, options: ThreadOptions): Worker {
    try {
      return new Worker(this.#url, { workerData: data, ...options })
    } catch (cause) {
      const reason = messageOf(cause)
      throw new ThreadFailure(`cannot start the thread ${options.name}: ${reason}`, { cause })
    }
  }

  /** For the thread itself: the data that it was started with. */
  get data(): Data {
    return workerData
  }
}

/** A thread that the service cannot do without has not started, or has ended unexpectedly. */
export class ThreadFailure extends UserError {}

/**
 * Ends the process with a ThreadFailure, as an uncaught exception, if a thread ends early.
 *
 * @returns a function to call before the thread is told to end; it resolves when the thread has ended
 */
export function requireThread(worker: Worker, name: string): () => Promise<void> {
  const ended = Promise.withResolvers<void>()
  let canEnd = false
  worker.on('error', (cause) => {
    // `exit` may be emitted before Node reports this exception, and must not hide the cause.
    canEnd = true
    throw new ThreadFailure(`the thread ${name} failed`, { cause })
  })
  worker.on('exit', () => {
    ended.resolve()
    if (!canEnd) throw new ThreadFailure(`the thread ${name} ended unexpectedly`)
  })
  return () => {
    canEnd = true
    return ended.promise
  }
}
