import { chmodSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkFileModes } from '../../../../src/stores/sqlite/file/file-modes-check.ts'

const PRIVATE = [{ status: 'ok', message: 'only the owner can read or write the files' }]

/** A folder of empty files, private except those with a given mode. */
function filesOf(t: Test, modes: Record<string, number>): string {
  const names = ['plants.db', 'plants.db-wal', 'plants.db-shm', 'access-token', 'other.db']
  const folder = t.testdir(
    Object.fromEntries([...names, ...Object.keys(modes)].map((n) => [n, ''])),
  )
  for (const name of names) chmodSync(join(folder, name), 0o600)
  for (const [name, mode] of Object.entries(modes)) chmodSync(join(folder, name), mode)
  return folder
}

for (const [mode, rights] of [
  [0o644, 'mode 0644 lets others read'],
  [0o640, 'mode 0640 lets others read'],
  [0o604, 'mode 0604 lets others read'],
  [0o620, 'mode 0620 lets others write'],
  [0o666, 'mode 0666 lets others read and write'],
  [0o044, 'mode 0044 lets others read'],
] as const) {
  t.test(`mode ${mode.toString(8)} is reported`, async (t) => {
    const folder = filesOf(t, { 'plants.db': mode })
    const file = join(folder, 'plants.db')
    const message = `${rights} ${file}; chmod 600 makes it private`
    t.same([...checkFileModes(file)], [{ status: 'warning', message }])
  })
}

for (const mode of [0o600, 0o400, 0o700, 0o611]) {
  t.test(`mode ${mode.toString(8)} is private`, async (t) => {
    const folder = filesOf(t, { 'plants.db': mode })
    t.same([...checkFileModes(join(folder, 'plants.db'))], PRIVATE)
  })
}

t.test('each file that belongs to the database is reported, and no other', async (t) => {
  const wide = [
    'plants.db',
    'plants.db-wal',
    'plants.db-shm',
    'plants.db-journal',
    'access-token',
    'plants.db.access-token',
  ]
  const modes = Object.fromEntries([...wide, 'other.db', 'plants.csv'].map((name) => [name, 0o644]))
  const folder = filesOf(t, modes)
  const reported = [...checkFileModes(join(folder, 'plants.db'))].map(({ message }) => message)
  t.same(
    reported,
    wide.map(
      (name) => `mode 0644 lets others read ${join(folder, name)}; chmod 600 makes it private`,
    ),
  )
})

t.test('the WAL is found next to the target of a symbolic link', async (t) => {
  const folder = filesOf(t, { 'plants.db-wal': 0o644 })
  symlinkSync('plants.db', join(folder, 'link.db'))
  t.match(
    [...checkFileModes(join(folder, 'link.db'))],
    [{ message: `${join(folder, 'plants.db-wal')};` }],
  )
})

t.test('a token file that cannot be examined is skipped', async (t) => {
  const folder = filesOf(t, {})
  symlinkSync('plants.db.access-token', join(folder, 'plants.db.access-token'))
  t.same([...checkFileModes(join(folder, 'plants.db'))], PRIVATE)
})

t.test('on Windows, where files have no modes, nothing is reported', async (t) => {
  const folder = filesOf(t, { 'plants.db': 0o666 })
  const findings = [...checkFileModes(join(folder, 'plants.db'), 'win32')]
  t.same(findings, [{ status: 'ok', message: 'unknown: Windows has no file modes' }])
})
