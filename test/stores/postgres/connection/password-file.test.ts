import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { PostgresStore } from '../../../../src/stores/postgres/postgres-store.ts'

/** AuthenticationCleartextPassword (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
const ASK_FOR_PASSWORD = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3])

t.test('a password in a password file is used, without a warning of the driver', async (t) => {
  const server = createServer(async (client) => {
    client.on('error', () => {})
    await once(client, 'data')
    client.write(ASK_FOR_PASSWORD)
    const [answer] = await once(client, 'data')
    server.emit('answer', String(answer))
    client.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const file = join(t.testdir(), 'pgpass')
  writeFileSync(file, `127.0.0.1:${port}:plants:me:from the file\n`, { mode: 0o600 })
  t.intercept(process, 'env', { value: { ...process.env, PGPASSFILE: file } })
  const warnings = t.capture(process, 'emitWarning')
  const answered = once(server, 'answer')
  const url = `postgres://me@127.0.0.1:${port}/plants`
  const refused = t.rejects(PostgresStore.open({ url, timeout: 1000 }))
  t.match(await answered, [/^p.*from the file\0$/s])
  await refused
  t.same(warnings(), [])
})
