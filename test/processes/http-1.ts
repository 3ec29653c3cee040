import { filesOf } from '../../scripts/test-processes.ts'
import { runFiles } from '../helpers/run-files.ts'

await runFiles(filesOf(import.meta.url))
