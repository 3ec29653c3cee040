import t from 'tap'
import { runProcesses } from '../../scripts/test-processes.ts'

await runProcesses(t, '**/*.system.ts', 8, 4)
