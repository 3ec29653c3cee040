import { runFiles } from '../helpers/run-files.ts'
import { filesOf } from '../helpers/test-processes.ts'

await runFiles(filesOf(import.meta.url))
