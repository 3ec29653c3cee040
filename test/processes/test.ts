import t from 'tap'
import { runProcesses } from '../../tools/tap/test-processes.ts'

await runProcesses(t, '**/*.test.ts', 25, 3)
