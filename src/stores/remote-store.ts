import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { ChangesPage, ChangesRequest, NoChanges } from '../../service/change-feed.ts'
import type {
  BatchResult,
  CreateResult,
  NewPlant,
  NoMatch,
  Page,
  PageRequest,
  PlantPatch,
  StoredPlant,
} from '../../service/plant-store.ts'
import type { StoredToken } from '../../service/token-store.ts'
import { RemoteCalls, serveCalls } from '../threads/remote-calls.ts'
import type { Store, StoreLink, ThreadStore } from './store.ts'

/** A store is closed by the thread that opened it. */
type RemoteMethods = Omit<ThreadStore, 'close'>

/** A link for a RemoteStore. */
export function shareCalls(store: Store): StoreLink {
  const { port1, port2 } = new MessageChannel()
  serveCalls<keyof RemoteMethods>(port1, store)
  return { data: port2, transferList: [port2] }
}

/** A store that another thread owns, so that all threads share its connections and its limits. */
export class RemoteStore implements ThreadStore {
  readonly #remote: RemoteCalls<RemoteMethods>
  #closed: Promise<void> | undefined

  /** @param port the data of the link that `shareCalls` made */
  constructor(port: MessagePort) {
    this.#remote = new RemoteCalls(port, 'the main thread', ['nextCommit'])
  }

  create(plant: NewPlant): Promise<CreateResult> {
    return this.#remote.call('create', plant)
  }

  createAll(plants: readonly NewPlant[]): Promise<BatchResult> {
    return this.#remote.call('createAll', plants)
  }

  get(id: bigint): Promise<StoredPlant | undefined> {
    return this.#remote.call('get', id)
  }

  list(request: PageRequest): Promise<Page> {
    return this.#remote.call('list', request)
  }

  update(
    id: bigint,
    patch: PlantPatch,
    expected?: readonly string[],
  ): Promise<StoredPlant | NoMatch> {
    return this.#remote.call('update', id, patch, expected)
  }

  remove(id: bigint, expected?: readonly string[]): Promise<'removed' | NoMatch> {
    return this.#remote.call('remove', id, expected)
  }

  readChanges(request: ChangesRequest): Promise<ChangesPage | NoChanges> {
    return this.#remote.call('readChanges', request)
  }

  nextCommit(): Promise<void> {
    return this.#remote.call('nextCommit')
  }

  ping(): Promise<void> {
    return this.#remote.call('ping')
  }

  findToken(selector: Uint8Array): Promise<StoredToken | undefined> {
    return this.#remote.call('findToken', selector)
  }

  listTokens(): Promise<StoredToken[]> {
    return this.#remote.call('listTokens')
  }

  addToken(token: StoredToken): Promise<boolean> {
    return this.#remote.call('addToken', token)
  }

  addFirstToken(token: StoredToken): Promise<boolean> {
    return this.#remote.call('addFirstToken', token)
  }

  removeToken(name: string): Promise<boolean> {
    return this.#remote.call('removeToken', name)
  }

  noteTokenUse(name: string, at: Date): Promise<void> {
    return this.#remote.call('noteTokenUse', name, at)
  }

  close(): Promise<void> {
    this.#closed ??= this.#remote.close()
    return this.#closed
  }
}
