import t from 'tap'
import { runProcesses } from '../../tools/tap/test-processes.ts'

await runProcesses(t, '**/*.system.ts', 8, 4)
