import t from 'tap'
import { identify } from '../../../src/stores/postgres/server-product.ts'
import { advise } from '../../../src/stores/postgres/store-advice.ts'

for (const [version, name] of [
  ['PostgreSQL 18.1 on x86_64-pc-linux-gnu, compiled by gcc', 'PostgreSQL 18.1'],
  ['PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on aarch64', 'PostgreSQL 15.14'],
  ['PostgreSQL 13.0 on x86_64', 'PostgreSQL 13.0'],
  ['PostgreSQL 19beta1 on x86_64', 'PostgreSQL 19beta1'],
] as const) {
  t.test(`${version} is supported`, async (t) => {
    t.same(identify(version), { name, isSupported: true })
  })
}

const identified = { required: undefined, violation: undefined }

for (const [version, name] of [
  ['PostgreSQL 12.22 on x86_64', 'PostgreSQL 12.22'],
  ['PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64', 'PostgreSQL 15.12-YB-2025.1.0.0-b0'],
  ['PostgreSQL 17.5 OrioleDB public beta 11 on x86_64', 'PostgreSQL 17.5 OrioleDB public beta 11'],
  ['CockroachDB CCL v25.4.0 (x86_64-pc-linux-gnu)', 'CockroachDB CCL v25.4.0'],
  ['Novel 1.0', 'Novel 1.0'],
] as const) {
  t.test(`${version} gets one warning`, async (t) => {
    t.same(identify(version), { name, isSupported: false })
    const product = { name, isSupported: false }
    const warning = `the database server is ${name}, but only PostgreSQL 13 or later is supported: there is no change feed, and no standbys can be required; see docs/postgresql.md`
    t.same(advise(product, identified), { warnings: [warning] })
  })
}
