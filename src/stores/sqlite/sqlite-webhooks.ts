import type { WebhookStore } from '../../../service/webhook-store.ts'
import type { Reader } from './reads/reader.ts'
import type { SubmitWrite } from './writer/write-call.ts'

/** The webhooks in the file. */
export function webhookStore(reader: Reader, write: SubmitWrite): WebhookStore {
  return {
    list: async () => reader.listWebhooks(),
    add: (webhook) => write({ type: 'addWebhook', webhook }),
    remove: (name, owner) => write({ type: 'removeWebhook', name, owner }),
    rotateSecret: (name, secret, previousUntil) =>
      write({ type: 'rotateWebhookSecret', name, secret, previousUntil }),
    resume: (name, fromOldest) => write({ type: 'resumeWebhook', name, fromOldest }),
    lease: (owner) => write({ type: 'leaseWebhooks', owner }),
    release: (owner) => write({ type: 'releaseWebhooks', owner }),
    saveProgress: (owner, saved) => write({ type: 'saveWebhookProgress', owner, saved }),
  }
}
