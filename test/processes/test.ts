import t from 'tap'
import { runProcesses } from '../../scripts/test-processes.ts'

await runProcesses(t, '**/*.test.ts', 25, 3)
