/** Runs the test files that TEST_FILES names, relative to test/. tap would put arguments into the names of folders. */
import '../helpers/processes/without-domains.ts'
import t from 'tap'
import { runFiles } from '../helpers/processes/run-files.ts'
import { shareContracts } from '../helpers/service/shared-contracts.ts'

await shareContracts()
await runFiles(t, (process.env.TEST_FILES ?? '').split(' '))
