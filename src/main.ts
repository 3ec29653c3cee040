import { useCompileCache } from './commands/compile-cache.ts'

useCompileCache()

// Imported after the compile cache is on, so that it also holds these modules.
const { main } = await import('./commands/command-line.ts')
await main(process.argv.slice(2))
