import { text } from 'node:stream/consumers'
import t from 'tap'
import TestReporter from '../tools/tap/test-reporter.ts'

/** A run of two files in one process, one of which fails, and of a file that ends without a result. */
const RUN = `TAP version 14
# Subtest: test/processes/test.ts
    # Subtest: folder
        # Subtest: good.test.ts
            # Subtest: a test
                ok 1 - an assertion
                1..1
            ok 1 - a test # time=5ms
            ok 2 - another # SKIP not here
            1..2
        ok 1 - good.test.ts # time=1234ms
        # Subtest: bad.test.ts
            # Subtest: a test
                not ok 1 - an assertion
                  ---
                  found: 1
                  wanted: 2
                  ...
                1..1
            not ok 1 - a test # time=5ms
            1..1
        not ok 2 - bad.test.ts # time=50ms
        1..2
    not ok 1 - folder # time=2000ms
    1..1
not ok 1 - test/processes/test.ts # time=2000ms
not ok 2 - test/alone.test.ts # time=3000ms
  ---
  exitCode: 1
  ...
1..2
`

t.test('a test run is reported by file, with each failure once and in full', async (t) => {
  const reporter = new TestReporter()
  reporter.end(RUN)
  t.equal(
    await text(reporter),
    `ok good.test.ts (1.2 s)

not ok: test/processes/test.ts
  > folder
  > bad.test.ts
  > a test
  > an assertion
found: 1
wanted: 2

not ok bad.test.ts (0.1 s)

not ok: test/alone.test.ts
exitCode: 1

skipped: good.test.ts > another: not here

1 passed, 2 failed, 1 skipped
`,
  )
})
