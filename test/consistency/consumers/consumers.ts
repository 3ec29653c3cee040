/** All consumers by name, for disasters that none of them notices. */
import type { StartConsumer } from './consumer.ts'
import { postgresMirror, sqliteMirror } from './mirror.ts'
import { webhook } from './webhook.ts'

export const CONSUMERS: Readonly<Record<string, StartConsumer>> = {
  webhook,
  'sqlite-mirror': sqliteMirror,
  'postgres-mirror': postgresMirror,
}
