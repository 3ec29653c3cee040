#!/usr/bin/env node
/** The command: from its sources where these are, in a checkout; else from what is built of them. */
import { existsSync } from 'node:fs'

const sources = new URL('../src/main.ts', import.meta.url)
const built = new URL('../dist/src/main.js', import.meta.url)
await import(existsSync(sources) ? sources : built)
