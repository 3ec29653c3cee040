#!/usr/bin/env node
/** Runs the command from its sources in a checkout, and from the build in an installed package. */
import { existsSync } from 'node:fs'

const sources = new URL('../src/main.ts', import.meta.url)
const built = new URL('../dist/src/main.js', import.meta.url)
await import(existsSync(sources) ? sources : built)
