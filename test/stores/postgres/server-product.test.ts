import t from 'tap'
import { identify } from '../../../src/stores/postgres/connection/server-product.ts'
import { advise } from '../../../src/stores/postgres/durability/advice.ts'
import { StandbyGuarantee } from '../../../src/stores/postgres/durability/standby-guarantee.ts'

for (const [version, name, isTested, isPostgres] of [
  ['PostgreSQL 18.1 on x86_64-pc-linux-gnu, compiled by gcc', 'PostgreSQL 18', true, true],
  ['PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on aarch64', 'PostgreSQL 15', true, true],
  ['PostgreSQL 14.20 on x86_64', 'PostgreSQL 14', false, true],
  ['PostgreSQL 19beta1 on x86_64', 'PostgreSQL 19', false, true],
  ['CockroachDB CCL v25.4.0 (x86_64-pc-linux-gnu)', 'CockroachDB', false, false],
  ['PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64', 'YugabyteDB', false, false],
  ['PostgreSQL 8.0.2 on i686, Redshift 1.0.1', 'Amazon Redshift', false, false],
  ['PostgreSQL 12.12 (Greenplum Database 7.1.0)', 'Greenplum', false, false],
  [
    'PostgreSQL 17.1 (EnterpriseDB Advanced Server 17.1.0)',
    'EDB Postgres Advanced Server',
    false,
    true,
  ],
  ['Novel 1.0', 'Novel', false, false],
] as const) {
  t.test(`${version} is ${name}`, async (t) => {
    t.same(identify(version), { name, isTested, isPostgres })
  })
}

const guarantee = new StandbyGuarantee(() => Promise.reject(new Error('not called')))

t.test('an engine that was never tested causes a warning', async (t) => {
  t.same(advise(identify('CockroachDB CCL v25.4.0'), guarantee), {
    warnings: [
      'the database server is CockroachDB, which this service was never tested with; see docs/scaling.md',
    ],
  })
  const { warnings } = advise(identify('PostgreSQL 14.20'), guarantee)
  t.match(warnings, [
    /^the database server is PostgreSQL 14, /,
    /^acknowledged changes can be lost/,
  ])
})
