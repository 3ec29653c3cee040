import pg from 'pg'
import t from 'tap'
import { restrictedError } from '../../../../service/restriction.ts'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import {
  isRetryable,
  mapError,
  toUnavailable,
} from '../../../../src/stores/postgres/connection/postgres-errors.ts'
import { damagedError } from '../../../../src/stores/shared/store-error.ts'

function databaseError(code?: string): pg.DatabaseError {
  const error = new pg.DatabaseError('message of the server', 0, 'error')
  return code === undefined ? error : Object.assign(error, { code })
}

for (const [code, reason, meaning] of [
  ['40001', 'busy', 'serialization_failure'],
  ['40P01', 'busy', 'deadlock_detected'],
  ['55P03', 'busy', 'lock_not_available'],
  ['53300', 'busy', 'too_many_connections'],
  ['53100', 'failing', 'disk_full'],
  ['53200', 'failing', 'out_of_memory'],
  ['08006', 'failing', 'connection_failure'],
  ['08P01', 'failing', 'protocol_violation, also from a pooler that has lost its server'],
  ['25006', 'failing', 'read_only_sql_transaction'],
  ['28P01', 'failing', 'invalid_password'],
  ['3D000', 'failing', 'invalid_catalog_name'],
  ['57014', 'failing', 'query_canceled'],
  ['57P01', 'failing', 'admin_shutdown'],
  ['57P03', 'failing', 'cannot_connect_now'],
  ['58030', 'failing', 'io_error'],
  ['XX000', 'failing', 'internal_error'],
] as const) {
  t.test(`${code}, ${meaning}: the store is ${reason}`, (t) => {
    const expected = new StoreUnavailable(reason, `${code}: message of the server`)
    t.same(mapError(databaseError(code)), expected)
    t.same(toUnavailable(databaseError(code)), expected)
    t.end()
  })
}

for (const [code, meaning] of [
  ['XX001', 'data_corrupted'],
  ['XX002', 'index_corrupted'],
]) {
  t.test(`${code}, ${meaning}: the store is damaged`, (t) => {
    t.same(mapError(databaseError(code)), damagedError(`${code}: message of the server`))
    t.end()
  })
}

for (const [code, meaning] of [
  ['22021', 'character_not_in_repertoire'],
  ['23502', 'not_null_violation'],
  ['25P02', 'in_failed_sql_transaction'],
  ['40002', 'transaction_integrity_constraint_violation'],
  ['42601', 'syntax_error'],
  ['54000', 'program_limit_exceeded'],
  [undefined, 'no code'],
]) {
  t.test(`${code}, ${meaning}: returned unchanged, as a bug`, (t) => {
    const error = databaseError(code)
    t.equal(mapError(error), error)
    t.end()
  })
}

t.test('PS001, a change that the database refuses: the restriction is the reason', (t) => {
  const refusal = (detail: string) => Object.assign(databaseError('PS001'), { detail })
  const source = 'https://source.example'
  t.same(mapError(refusal(source)), restrictedError({ source }))
  t.same(mapError(refusal('')), restrictedError('frozen'))
  t.same(mapError(databaseError('PS001')), restrictedError('frozen'))
  t.end()
})

t.test('a connection failure makes the store unavailable', (t) => {
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  t.same(mapError(reset), new StoreUnavailable('failing', 'ECONNRESET: read ECONNRESET'))
  const everywhere = Object.assign(new AggregateError([reset]), { code: 'ECONNREFUSED' })
  t.same(mapError(everywhere), new StoreUnavailable('failing', 'ECONNREFUSED'))
  const silent = new Error('Query read timeout')
  t.same(mapError(silent), new StoreUnavailable('failing', 'Query read timeout'))
  const already = new StoreUnavailable('busy', 'detail')
  t.equal(toUnavailable(already), already)
  t.end()
})

t.test('a value that the driver cannot send is a bug', (t) => {
  const error = new TypeError('Do not know how to serialize a BigInt')
  t.equal(mapError(error), error)
  t.end()
})

t.test('only serialization failures and deadlocks are retryable', (t) => {
  t.ok(isRetryable(new StoreUnavailable('busy', '40001: could not serialize access')))
  t.ok(isRetryable(new StoreUnavailable('busy', '40P01')))
  t.notOk(isRetryable(new StoreUnavailable('busy', '53300')))
  t.notOk(isRetryable(new StoreUnavailable('failing', '57P01')))
  t.notOk(isRetryable(new Error('40001')))
  t.end()
})
