import { globSync } from 'node:fs'

/** These need a browser, where coverage is not measured. */
const IN_BROWSERS = ['page/list/surroundings.ts', 'page/storage/tab-storage.ts', 'page/**/use-*.ts']

const SOURCES = globSync(
  ['bin/compile-cache.js', '{contract,service,formats,time,src,client,page}/**/*.ts'],
  {
    exclude: ['**/*.d.ts', ...IN_BROWSERS],
  },
)

// tap would record each file of node_modules that a test loads, and read its source map. It sets this variable for test
// processes after it has read .taprc.
process.env._TAPJS_PROCESSINFO_EXCLUDE_ = String(/^node:|[\\/](\.tap|node_modules)[\\/]/)

/** Tells tap to measure all sources in each test process. */
export default function mapCoverage(): string[] {
  return SOURCES
}
