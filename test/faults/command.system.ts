/** Faults of the command. */
import { join } from 'node:path'
import t from 'tap'
import { Command } from '../helpers/processes/command.ts'

t.test('the command takes a file, and warns', async (t) => {
  const file = join(t.testdir({ 'faults.json': '[{"cut":"before-work"}]' }), 'faults.json')
  const args = ['--database=:memory:', '--port=0', '--admin-port=0', '--faults', file]
  const command = new Command(t, args)
  await command.listening()
  const [, adminUrl] = await command.says(/metrics {3}(\S+)\/metrics\n/)
  t.match(command.stderr, /requests fail on demand \(--faults\): only tests may use this store/)
  t.equal(await (await fetch(`${adminUrl}/faults`)).text(), '[{"cut":"before-work"}]')
})
