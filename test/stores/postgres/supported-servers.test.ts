import t from 'tap'
import { findUnsupported } from '../../../src/stores/postgres/postgres-database.ts'

for (const version of [
  'PostgreSQL 18.1 on x86_64-pc-linux-gnu, compiled by gcc',
  'PostgreSQL 13.0 on x86_64',
  'PostgreSQL 19beta1 on x86_64',
  'PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on aarch64',
  'PostgreSQL 17.5 (6bc9ef8) on aarch64-unknown-linux-gnu',
  'PostgreSQL 16.9 - Percona Distribution on x86_64-pc-linux-gnu, compiled by gcc',
  'PostgreSQL 16.1, compiled by Visual C++ build 1937, 64-bit',
]) {
  t.test(`${version} is supported`, async (t) => {
    t.equal(findUnsupported(version), undefined)
  })
}

for (const [version, name] of [
  ['PostgreSQL 12.22 on x86_64', 'PostgreSQL 12.22'],
  ['PostgreSQL 12.12 (Greenplum Database 7.4.0) on x86_64', 'PostgreSQL 12.12'],
  ['PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64', 'PostgreSQL 15.12-YB-2025.1.0.0-b0'],
  ['PostgreSQL 17.5 OrioleDB public beta 11 on x86_64', 'PostgreSQL 17.5 OrioleDB public beta 11'],
  ['CockroachDB CCL v25.4.0 (x86_64-pc-linux-gnu)', 'CockroachDB CCL v25.4.0'],
  ['Novel 1.0', 'Novel 1.0'],
] as const) {
  t.test(`${version} is not supported`, async (t) => {
    t.equal(findUnsupported(version), name)
  })
}
