import { useCompileCache } from './compile-cache.ts'

useCompileCache()

// Imported only now, so that the compile cache holds these modules too.
const { main } = await import('./commands/main.ts')
await main(process.argv.slice(2))
