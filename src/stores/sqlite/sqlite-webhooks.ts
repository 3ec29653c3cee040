import type { WebhookStore } from '../../../service/webhook-store.ts'
import type { Reader } from './reader.ts'
import type { SubmitWrite } from './writer/writer.ts'

/** The webhooks in the file. */
export function webhookStore(reader: Reader, submit: SubmitWrite): WebhookStore {
  return {
    list: async () => reader.listWebhooks(),
    add: (webhook) => submit('addWebhook', webhook),
    remove: (name, owner) => submit('removeWebhook', name, owner),
    rotateSecret: (name, secret, until) => submit('rotateWebhookSecret', name, secret, until),
    resume: (name, fromOldest) => submit('resumeWebhook', name, fromOldest),
    lease: (owner) => submit('leaseWebhooks', owner),
    release: (owner) => submit('releaseWebhooks', owner),
    saveProgress: (owner, progress) => submit('saveWebhookProgress', owner, progress),
  }
}
