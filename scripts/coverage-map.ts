import { globSync } from 'node:fs'

const SOURCES = globSync(['bin/compile-cache.js', '{contract,service,src,client,page}/**/*.ts'], {
  exclude: ['**/*.d.ts'],
})

/** Tells tap to measure all sources in each test process. */
export default function mapCoverage(): string[] {
  return SOURCES
}
