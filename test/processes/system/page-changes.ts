import { listFiles } from '../../../scripts/test-processes.ts'
import { runFiles } from '../../helpers/run-files.ts'

await runFiles(listFiles(import.meta.url))
