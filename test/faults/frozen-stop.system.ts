/** Stopping a service whose server does not respond. */
import t from 'tap'
import { PostgresServer } from '../../tools/postgres/server.ts'
import { halfACreate } from '../helpers/client.ts'
import { Command } from '../helpers/command.ts'

const TOKEN = 'a-token-of-the-environment'

/** On a machine that is busy with other tests. */
const MARGIN_MS = 30_000

for (const { what, lockTimeout, shutdownTimeout, exits, statuses } of [
  {
    what: 'exits normally',
    lockTimeout: 1000,
    shutdownTimeout: 30_000,
    exits: { code: 0 },
    statuses: [503],
  },
  {
    what: 'exits with a reason',
    lockTimeout: 600_000,
    shutdownTimeout: 500,
    statuses: [],
    exits: {
      code: 1,
      stderr:
        /plant-store: ended before the database completed all changes; those without a response/,
    },
  },
]) {
  t.test(`a stop with a frozen server and --lock-timeout ${lockTimeout}ms ${what}`, async (t) => {
    const server = await PostgresServer.make(t)
    await server.start()
    const timeouts = [`--lock-timeout=${lockTimeout}ms`, `--shutdown-timeout=${shutdownTimeout}ms`]
    const command = new Command(t, ['--port=0', ...timeouts, '--database', server.url()], {
      env: { PLANT_STORE_TOKEN: TOKEN },
    })
    const url = await command.listening()
    const { socket, answers, rest } = await halfACreate(url, TOKEN, { id: 1, name: 'x' })
    server.freeze()
    t.teardown(() => server.thaw())
    socket.write(rest)
    const start = performance.now()
    command.process.kill('SIGTERM')
    const { code, stderr } = await command.finished()
    const elapsed = performance.now() - start
    t.match({ code, stderr }, exits)
    t.ok(elapsed < shutdownTimeout + 5000 + MARGIN_MS, `after ${Math.round(elapsed)} ms`)
    t.same(
      (await answers).map(({ status }) => status),
      statuses,
    )
  })
}
