#!/usr/bin/env node
/** Runs the command from its sources in a checkout, and from the build in an installed package. */
import { existsSync } from 'node:fs'
import { unsupportedNode } from './node-version.js'

const reason = unsupportedNode()
if (reason === undefined) {
  const { useCompileCache } = await import('./compile-cache.js')
  useCompileCache()
  // Imported after the compile cache is on, so that it holds all modules of the program.
  const sources = new URL('../src/commands/command-line.ts', import.meta.url)
  const built = new URL('../dist/src/commands/command-line.js', import.meta.url)
  const { main } = await import(existsSync(sources) ? sources : built)
  await main(process.argv.slice(2))
} else {
  // Loading the program would fail with a stack trace about its syntax or imports.
  process.stderr.write(`plant-store: ${reason}\n`)
  process.exitCode = 1
}
