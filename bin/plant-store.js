#!/usr/bin/env node
/** Runs the command from its sources in a checkout, and from the build in an installed package. */
import { existsSync } from 'node:fs'
import { unsupportedNode } from './node-version.js'

const reason = unsupportedNode()
if (reason === undefined) {
  const sources = new URL('../src/main.ts', import.meta.url)
  const built = new URL('../dist/src/main.js', import.meta.url)
  await import(existsSync(sources) ? sources : built)
} else {
  // Loading the program would fail with a stack trace about its syntax or imports.
  process.stderr.write(`plant-store: ${reason}\n`)
  process.exitCode = 1
}
