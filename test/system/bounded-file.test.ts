import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { readBounded } from '../../src/system/bounded-file.ts'
import { FileError } from '../../src/system/user-errors.ts'

t.test('a file up to the limit is read whole', async (t) => {
  const folder = t.testdir({ empty: '', full: 'x'.repeat(1000), large: 'x'.repeat(1001) })
  t.equal(readBounded(join(folder, 'empty'), 1000).length, 0)
  t.equal(readBounded(join(folder, 'full'), 1000).toString(), 'x'.repeat(1000))
  t.throws(
    () => readBounded(join(folder, 'large'), 1000, 'the token'),
    new FileError('cannot use the token: expected at most 1000 bytes'),
  )
})

t.test('a device that never ends is refused', async (t) => {
  t.throws(
    () => readBounded('/dev/zero', 1000),
    new FileError('cannot use /dev/zero: expected at most 1000 bytes'),
  )
})

t.test('a pipe is read to its end, and a file that cannot be read is named', async (t) => {
  const pipe = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [pipe])
  const writer = spawn('sh', ['-c', 'printf one > "$0"', pipe])
  t.teardown(() => writer.kill())
  t.equal(readBounded(pipe, 1000).toString(), 'one')
  for (const [file, reason] of [
    [join(pipe, 'missing'), 'not a directory'],
    [t.testdirName, 'illegal operation on a directory'],
  ] as const) {
    t.throws(() => readBounded(file, 1000), new FileError(`cannot read ${file}: ${reason}`))
  }
})
