import { extname } from 'node:path'
import { type Transferable, Worker, workerData } from 'node:worker_threads'

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

  /** @param data must be cloneable, apart from what is in `transferList` */
  start(data: Data, transferList: Transferable[] = []): Worker {
    return new Worker(this.#url, { workerData: data, transferList })
  }

  /** For the thread itself: the data that it was started with. */
  get data(): Data {
    return workerData
  }
}
