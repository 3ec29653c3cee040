import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { withoutTap } from '../../../helpers/processes/command.ts'

t.test('hostile workbooks take less than 400 MB', async (t) => {
  const script = fileURLToPath(new URL('hostile-memory.ts', import.meta.url))
  const { stdout, stderr } = spawnSync(...withoutTap([process.execPath, script]), {
    encoding: 'utf8',
  })
  t.equal(stderr, '')
  t.match(stdout, /^\d+ MB$/m)
  t.ok(Number.parseInt(stdout, 10) < 400, stdout)
})
