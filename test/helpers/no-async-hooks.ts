/**
 * Preloaded into each test process: turns off tap's async hooks, which cost about a tenth of its processor time. They
 * record every promise to assign an uncaught error to its test. Without them, such an error ends the process, which
 * still fails.
 */
import asyncHooks, { type AsyncHook } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const none: AsyncHook = { enable: () => none, disable: () => none }

asyncHooks.createHook = () => none
syncBuiltinESMExports()
