/** Checks that a database which an earlier version made works. test/fixtures/earlier-version/ says how it was made. */
import { readFileSync } from 'node:fs'
import { Webhook as Verifier } from 'standardwebhooks'
import type { Test } from 'tap'
import { startPlantStore } from '../../src/index.ts'
import { runHere } from '../helpers/command-here.ts'
import { startReceiver } from '../webhooks/receiver.ts'

const FOLDER = new URL('../fixtures/earlier-version/', import.meta.url)

/** What the earlier version had returned. */
interface Returned {
  readonly tokens: { readonly reader: string; readonly writer: string }
  readonly webhookSecret: string
  readonly cursor: string
  /** The response to `GET /changes?after=` with the cursor. */
  readonly changes: string
  /** The response to `GET /plants`. */
  readonly plants: string
}

/** The events that the receiver had not confirmed. */
const UNCONFIRMED = [
  'newPlant 3',
  'newPlant 4',
  'plantChanged 1',
  'plantRemoved -9223372036854775808',
]

export function fixture(name: string): URL {
  return new URL(name, FOLDER)
}

/** @param setUrl sets the URL of the webhook */
export async function useEarlierVersion(
  t: Test,
  database: string,
  engine: 'sqlite' | 'postgres',
  setUrl: (url: string) => unknown,
): Promise<void> {
  const returned: Returned = JSON.parse(readFileSync(fixture(`${engine}.json`), 'utf8'))
  const { tokens, webhookSecret, cursor } = returned
  const receiver = await startReceiver(t, { plain: true })
  await setUrl(receiver.url)
  const keepChanges = 3650 * 86_400_000
  const service = await startPlantStore({ database, keepChanges, allowPrivateWebhooks: true })
  t.teardown(() => service.close())
  const call = async (path: string, token: string, body?: string) => {
    const response = await fetch(service.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    })
    return { status: response.status, text: await response.text() }
  }
  const plants = await call('/plants', tokens.reader)
  t.same(plants, { status: 200, text: returned.plants }, 'a token reads the plants')
  const changes = await call(`/changes?after=${cursor}`, tokens.reader)
  t.equal(changes.status, 200)
  t.same(withoutCursors(changes.text), withoutCursors(returned.changes), 'a cursor is valid')

  await receiver.until(UNCONFIRMED.length)
  const events = receiver.received.map(({ event, plant }) => `${event} ${plant}`)
  t.same(events.sort(), UNCONFIRMED, 'the webhook receives what it has not confirmed')
  const verifier = new Verifier(webhookSecret)
  for (const { body, headers } of receiver.received) verifier.verify(body, headers as never)

  const plant = '{"id":5,"name":"Populus nigra L."}'
  t.equal((await call('/plants', tokens.reader, plant)).status, 403, 'a token keeps its scope')
  t.equal((await call('/plants', tokens.writer, plant)).status, 200)
  await receiver.until(({ plant }) => plant === 5n)
  await service.close()

  const checked = await runHere(['check', '--database', database])
  t.equal(checked.code, 0, checked.stdout)
  t.notMatch(checked.stdout, /^FAIL/m)
  const listed = await runHere(['webhook', 'list', '--database', database])
  t.match(listed.stdout, /^receiver .* active /m)
}

/** New cursors have a checksum. */
function withoutCursors(changes: string): string {
  return changes.replace(/"cursor":"[^"]+",/g, '')
}
