import t from 'tap'
import { codeOf, FileError, fileError, messageOf } from '../../src/system/user-errors.ts'

t.test('whatever was thrown has a message, and perhaps a code', async (t) => {
  t.equal(messageOf(new Error('failed')), 'failed')
  t.equal(messageOf('failed'), 'failed')
  t.equal(codeOf(Object.assign(new Error(), { code: 'ENOENT' })), 'ENOENT')
  for (const error of [new Error(), { code: 1 }, 'ENOENT', null]) t.equal(codeOf(error), undefined)
})

t.test('only an error of the file system becomes a FileError', async (t) => {
  const missing = Object.assign(new Error(), { errno: -2 })
  const error = fileError('cannot read a file', missing)
  t.type(error, FileError)
  t.equal(messageOf(error), 'cannot read a file: no such file or directory')
  t.equal(fileError('cannot read a file', 'other'), 'other')
})
