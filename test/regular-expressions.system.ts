/** Every regular expression takes linear time on long input that it matches in part. */
import { globSync, readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import t from 'tap'
import ts from 'typescript'
import { loadContract } from '../core/contract/contract.ts'

/** Length of an input, in characters. */
const LENGTH = 2 ** 18

/** For all inputs of one expression. Linear time needs a fraction of a second, quadratic time longer for each input. */
const DEADLINE_MS = 20_000

/** The most inputs per expression. */
const ATTACKS = 60

/** An input whose middle part is repeated. */
type Attack = readonly [before: string, repeated: string, after: string]

interface Expression {
  readonly where: string
  readonly expression: RegExp
}

/** Without an unbounded quantifier, the time per starting position is bounded. */
const UNBOUNDED = /[*+]|\{\d+,\}/

const expressions = [...inSources(), ...inContract()].filter(({ expression }) =>
  UNBOUNDED.test(expression.source.replace(/\\.|\[[^\]]*\]/g, 'x')),
)

for (const { where, expression } of expressions) {
  t.test(`${where}: ${expression} takes linear time`, async (t) => {
    t.ok(await isFast(expression, attacksOn(expression)))
  })
}

t.test('an expression that takes quadratic time is detected', async (t) => {
  t.notOk(await isFast(/0+$/, attacksOn(/0+$/), 1000))
})

function inSources(): Expression[] {
  return globSync(
    ['src', 'contract', 'service', 'client'].map((folder) => `${folder}/**/*.ts`),
  ).flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
    const found: Expression[] = []
    const visit = (node: ts.Node) => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/')
        const expression = new RegExp(node.text.slice(1, end), node.text.slice(end + 1))
        found.push({ where: file, expression })
      }
      // One built from strings would go unchecked.
      if (ts.isIdentifier(node) && node.text === 'RegExp') throw new Error(`${file} has a RegExp`)
      ts.forEachChild(node, visit)
    }
    visit(source)
    return found
  })
}

function inContract(): Expression[] {
  const found: Expression[] = []
  JSON.stringify(loadContract(), (name, value) => {
    // Ajv compiles patterns the same way.
    if (name === 'pattern')
      found.push({ where: 'openapi.yaml', expression: new RegExp(value, 'u') })
    return value
  })
  return found
}

/** Generates matching strings and repeats each short part of them. */
function attacksOn({ source, flags }: RegExp): Attack[] {
  // Case does not affect the time.
  const matching = fc.stringMatching(new RegExp(source, flags.replace('i', '')))
  const attacks = new Map<string, Attack>()
  for (const text of fc.sample(matching, { seed: 1, numRuns: 30 })) {
    for (let start = 0; start < Math.min(text.length, 30); start++) {
      for (const end of [start + 1, start + 2, start + 3]) {
        const before = text.slice(0, start)
        const repeated = text.slice(start, end)
        attacks.set(`${kindsIn(before)}\0${kindsIn(repeated)}`, [before, repeated, text.slice(end)])
      }
    }
  }
  return [...attacks.values()].slice(0, ATTACKS)
}

/** Collapses letters and digits, so that similar strings count as one attack. */
function kindsIn(text: string): string {
  return text.replace(/\d/g, '0').replace(/[a-z]/gi, 'a').replace(/(.)\1/gs, '$1')
}

/** Whether the expression handles all inputs in time, followed by both a matching and a mismatching end. */
async function isFast(
  expression: RegExp,
  attacks: Attack[],
  deadlineMs = DEADLINE_MS,
): Promise<boolean> {
  const worker = new Worker(
    `const { parentPort, workerData: { expression, attacks, length } } = require('node:worker_threads')
    for (const [before, repeated, after] of attacks) {
      const text = before + repeated.repeat(length / repeated.length)
      for (const ending of [after, '\\0', '\\n!']) (text + ending).replace(expression, '')
    }
    parentPort.postMessage('done')`,
    // Without the variables by which tap measures every thread.
    { eval: true, env: {}, execArgv: [], workerData: { expression, attacks, length: LENGTH } },
  )
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), deadlineMs)
    worker.once('message', () => resolve(true))
    worker.once('error', reject)
    worker.once('exit', () => clearTimeout(timer))
  }).finally(() => worker.terminate()) as Promise<boolean>
}
