/**
 * Reports a test run in plain lines, which suit terminals, pipes and logs alike: one for each test file, every failure
 * in full, and a summary. tap's own reporters redraw the screen, or print every assertion.
 */
import { Transform, type TransformCallback } from 'node:stream'
import { Parser, type Result } from 'tap-parser'
import { stringify } from 'yaml'

/** Files that run processes, each of which runs other test files as subtests. */
const RUNNER = /^test\/processes\//

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
    /** The length of a file's path. */
    const length = RUNNER.test(path[0] ?? '') ? 3 : 1
    if (skip) {
      this.#counts.skipped++
      this.#skipped.push(
        `${path.slice(length - 1).join(' > ')}: ${skip === true ? 'no reason' : skip}`,
      )
    } else if (!ok && !todo && hasOwnFailure) {
      this.#counts.failed++
      this.#print(`\nnot ok: ${path.join('\n  > ')}\n${stringify(diag ?? {})}`)
    } else if (ok && !isTest) {
      this.#counts.passed++
    }
    if (isTest && path.length === length) {
      this.#print(`${ok ? 'ok' : 'not ok'} ${name} (${((time ?? 0) / 1000).toFixed(1)} s)`)
    }
  }

  #print(line: string): void {
    this.push(`${line}\n`)
  }
}
