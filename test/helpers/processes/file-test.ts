/** Stands in for tap in a file that runFiles() imports. */
import { testOf } from './run-files.ts'

export default testOf(new URL(import.meta.url).search.slice(1))
