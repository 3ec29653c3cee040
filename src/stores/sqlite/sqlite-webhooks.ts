import type {
  NewWebhook,
  SavedProgress,
  Webhook,
  WebhookStore,
} from '../../../service/webhook-store.ts'
import type { Reader } from './reader.ts'
import type { WebhookChanges } from './writer/webhook-changes.ts'
import type { ChangeResults, Changes } from './writer/writer.ts'

type Submit = <Name extends keyof WebhookChanges>(
  change: Changes[Name],
) => Promise<ChangeResults[Name]>

/** The webhooks in the file. */
export class Webhooks implements WebhookStore {
  readonly #reader: Reader
  readonly #submit: Submit

  /** @param submit makes a change, and resolves when it is on disk */
  constructor(reader: Reader, submit: Submit) {
    this.#reader = reader
    this.#submit = submit
  }

  async list(): Promise<Webhook[]> {
    return this.#reader.listWebhooks()
  }

  add(webhook: NewWebhook): Promise<'added' | 'taken' | 'full'> {
    return this.#submit<'addWebhook'>(['addWebhook', webhook])
  }

  remove(name: string, owner?: string): Promise<boolean> {
    return this.#submit<'removeWebhook'>(['removeWebhook', name, owner])
  }

  rotateSecret(name: string, secret: string, previousUntil: Date): Promise<boolean> {
    return this.#submit<'rotateWebhookSecret'>(['rotateWebhookSecret', name, secret, previousUntil])
  }

  resume(name: string, fromOldest: boolean): Promise<boolean> {
    return this.#submit<'resumeWebhook'>(['resumeWebhook', name, fromOldest])
  }

  lease(owner: string): Promise<string[] | undefined> {
    return this.#submit<'leaseWebhooks'>(['leaseWebhooks', owner])
  }

  release(owner: string): Promise<void> {
    return this.#submit<'releaseWebhooks'>(['releaseWebhooks', owner])
  }

  saveProgress(owner: string, progress: readonly SavedProgress[]): Promise<string[]> {
    return this.#submit<'saveWebhookProgress'>(['saveWebhookProgress', owner, progress])
  }
}
