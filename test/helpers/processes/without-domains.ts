/**
 * Keeps tap from following all asynchronous work, which takes up to a tenth of the processor time of tests. tap does so
 * to know which test an uncaught exception belongs to. Without it, the exception ends the process, and the test that
 * was running is reported as unfinished. Import this before tap.
 */
import hooks, { type AsyncHook } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const inert: AsyncHook = { enable: () => inert, disable: () => inert }

hooks.createHook = () => inert
syncBuiltinESMExports()
