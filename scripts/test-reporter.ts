/**
 * Reports a test run in plain lines, which suit terminals, pipes and logs alike: one for each test file, every failure
 * in full, and a summary. tap's own reporters redraw the screen, or print every assertion.
 */
import { Transform, type TransformCallback } from 'node:stream'
import { Parser, type Result } from 'tap-parser'
import { stringify } from 'yaml'

/** Files that run other test files, each as a subtest. */
const RUNNER = /^test\/(processes\/|http\/operations\/on-postgres)/

export default class TestReporter extends Transform {
  readonly #parser = new Parser()
  readonly #counts = { passed: 0, failed: 0, skipped: 0 }
  readonly #skipped: string[] = []

  constructor() {
    super()
    this.#watch(this.#parser, [])
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.#parser.write(chunk)
    done()
  }

  override _flush(done: TransformCallback): void {
    this.#parser.end()
    const { passed, failed, skipped } = this.#counts
    for (const line of this.#skipped) this.#print(`skipped: ${line}`)
    this.#print(`\n${passed} passed, ${failed} failed, ${skipped} skipped`)
    done()
  }

  /** Reports the results of a test and, recursively, of its subtests. */
  #watch(parser: Parser, path: readonly string[]): void {
    // TAP has the assertions of a subtest first, then the subtest's own result.
    let failuresBefore: number | undefined
    parser.on('child', (child: Parser) => {
      failuresBefore = this.#counts.failed
      this.#watch(child, [...path, child.name])
    })
    parser.on('assert', (result: Result) => {
      const hasOwnFailure = failuresBefore === undefined || failuresBefore === this.#counts.failed
      this.#count(result, [...path, result.name], {
        isTest: failuresBefore !== undefined,
        hasOwnFailure,
      })
      failuresBefore = undefined
    })
    parser.on('extra', (text: string) => this.#print(text.trimEnd()))
  }

  #count(
    result: Result,
    path: readonly string[],
    { isTest, hasOwnFailure }: { readonly isTest: boolean; readonly hasOwnFailure: boolean },
  ): void {
    const { ok, skip, todo, diag, time, name } = result
    const [process = ''] = path
    if (skip) {
      this.#counts.skipped++
      this.#skipped.push(`${path.slice(1).join(' > ')}: ${skip === true ? 'no reason' : skip}`)
    } else if (!ok && !todo && hasOwnFailure) {
      this.#counts.failed++
      this.#print(`\nnot ok: ${path.join('\n  > ')}\n${stringify(diag ?? {})}`)
    } else if (ok && !isTest) {
      this.#counts.passed++
    }
    if (isTest && path.length === (RUNNER.test(process) ? 2 : 1)) {
      this.#print(`${ok ? 'ok' : 'not ok'} ${name} (${((time ?? 0) / 1000).toFixed(1)} s)`)
    }
  }

  #print(line: string): void {
    this.push(`${line}\n`)
  }
}
