import { globSync } from 'node:fs'

/** These need a browser, where coverage is not measured. */
const IN_BROWSERS = ['page/list/surroundings.ts', 'page/storage/tab-storage.ts', 'page/**/use-*.ts']

const SOURCES = globSync(
  ['bin/compile-cache.js', '{contract,service,formats,time,src,client,page}/**/*.ts'],
  {
    exclude: ['**/*.d.ts', ...IN_BROWSERS],
  },
)

/** Tells tap to measure all sources in each test process. */
export default function mapCoverage(): string[] {
  return SOURCES
}
