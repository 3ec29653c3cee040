import { Command, InvalidArgumentError } from 'commander'
import { readRestriction } from '../../../service/restriction.ts'
import {
  WEBHOOKS_MAX,
  type WebhookEvent,
  WebhookStore,
  webhookEvents,
} from '../../../service/webhook-store.ts'
import { allowPrivateOption, databaseOption, parseName } from '../console/options.ts'
import { copyCommand } from '../databases/copy.ts'
import type { AddOptions, RetryCommandOptions, TestOptions } from './webhook.ts'

/** Defines `plant-store webhook`. */
export function webhookCommand(): Command {
  const command = new Command('webhook').description(
    'register endpoints that receive changes; a running service applies this within a second',
  )
  command
    .command('add')
    .description('add a webhook and print its signing secret; it is not shown again')
    .requiredOption('--name <name>', 'a unique name for the webhook', parseName)
    .requiredOption('--url <url>', 'where to send the events, such as https://receiver.example')
    .requiredOption(
      '--events <events>',
      `the events to send: ${webhookEvents.join(', ')}, separated by commas`,
      parseEvents,
    )
    .option('--from-oldest', 'also send the earlier changes that are still retained')
    .addOption(allowPrivateOption)
    .addOption(databaseOption)
    .action(async (options: AddOptions) => (await load()).addWebhook(options))
  command
    .command('list')
    .description('list webhooks with their state and lag')
    .addOption(databaseOption)
    .action(async ({ database }: Located) => (await load()).listWebhooks(database))
  named(command, 'remove', 'remove a webhook').action(async (name: string, { database }: Located) =>
    (await load()).removeWebhook(database, name),
  )
  named(command, 'retry', 'deliver to a paused or failing webhook now')
    .option('--from-oldest', 'continue with the oldest retained change')
    .action(async (name: string, options: RetryCommandOptions) =>
      (await load()).retryWebhook(name, options),
    )
  named(
    command,
    'rotate',
    'replace the signing secret and print the new one; both sign for 24 hours',
  ).action(async (name: string, { database }: Located) =>
    (await load()).rotateWebhook(database, name),
  )
  named(command, 'test', 'send a sample plant now, with the event name test')
    .addOption(allowPrivateOption)
    .action(async (name: string, options: TestOptions) => (await load()).testWebhook(name, options))
  command.addCommand(copyWebhooksCommand())
  return command
}

/** Defines `plant-store webhook copy`. Cursors are not copied, because each belongs to the feed of its database. */
function copyWebhooksCommand(): Command {
  return copyCommand('copy all webhooks from another database; they get changes from now on', {
    kind: 'webhook',
    max: WEBHOOKS_MAX,
    list: (store) => new WebhookStore(store).list(),
    async prepare(source, from, { wait }) {
      const { requireDelivered } = await import('./webhook-lag.ts')
      await requireDelivered(source, from, wait)
    },
    content: ({ progress: _, version: __, owner: ___, ...content }) => content,
    async adder(store) {
      const { readLatestCursor } = await import('../../../service/store/change-feed.ts')
      const cursor = await readLatestCursor(store)
      return async ({ progress: { pausedAt }, version: _, owner: __, ...webhook }) =>
        (await new WebhookStore(store).add({ ...webhook, cursor, pausedAt })) === 'added'
    },
    // The source has delivered what a mirror has received since an earlier copy.
    discard: async (store, name) =>
      typeof (await readRestriction(store)) === 'object' && new WebhookStore(store).remove(name),
  }).option('--wait', 'wait until a frozen source has delivered the events of all webhooks')
}

interface Located {
  readonly database: string
}

function named(parent: Command, verb: string, description: string): Command {
  return parent
    .command(verb)
    .description(description)
    .argument('<name>', 'the name of the webhook')
    .addOption(databaseOption)
}

/** Imported late, because the other commands need none of it. */
function load() {
  return import('./webhook.ts')
}

function parseEvents(value: string): WebhookEvent[] {
  const names = value.split(',')
  const chosen = webhookEvents.filter((event) => names.includes(event))
  if (names.every((name) => chosen.some((event) => event === name))) return chosen
  throw new InvalidArgumentError(`Expected ${webhookEvents.join(', ')}, separated by commas.`)
}
