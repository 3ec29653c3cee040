/** Every regular expression takes linear time: each is fed 1 MB of what it matches in part. */
import { globSync, readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import t from 'tap'
import ts from 'typescript'
import { loadContract } from '../src/contract/contract.ts'

const MEGABYTE = 2 ** 20

/** Milliseconds for all that is fed to one expression. It takes less than one second, or minutes for each text. */
const DEADLINE = 20_000

/** How many texts each is fed, at most. */
const ATTACKS = 60

/** The part of a text that is repeated stands between the other two. */
type Attack = readonly [before: string, repeated: string, after: string]

interface Expression {
  readonly where: string
  readonly expression: RegExp
}

/** Without one of these the time for each start is bounded. */
const UNBOUNDED = /[*+]|\{\d+,\}/

const expressions = [...inSources(), ...inContract()].filter(({ expression }) =>
  UNBOUNDED.test(expression.source.replace(/\\.|\[[^\]]*\]/g, 'x')),
)

for (const { where, expression } of expressions) {
  t.test(`${where}: ${expression} takes linear time`, async (t) => {
    t.ok(await isFast(expression, attacksOn(expression)))
  })
}

t.test('an expression that takes quadratic time is found', async (t) => {
  t.notOk(await isFast(/0+$/, attacksOn(/0+$/), 2000))
})

function inSources(): Expression[] {
  return globSync(['src', 'service', 'client'].map((folder) => `${folder}/**/*.ts`)).flatMap(
    (file) => {
      const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
      const found: Expression[] = []
      const visit = (node: ts.Node) => {
        if (ts.isRegularExpressionLiteral(node)) {
          const end = node.text.lastIndexOf('/')
          const expression = new RegExp(node.text.slice(1, end), node.text.slice(end + 1))
          found.push({ where: file, expression })
        }
        // Made of strings, it would not be found.
        if (ts.isIdentifier(node) && node.text === 'RegExp') throw new Error(`${file} has a RegExp`)
        ts.forEachChild(node, visit)
      }
      visit(source)
      return found
    },
  )
}

function inContract(): Expression[] {
  const found: Expression[] = []
  JSON.stringify(loadContract(), (name, value) => {
    // As Ajv makes it.
    if (name === 'pattern')
      found.push({ where: 'openapi.yaml', expression: new RegExp(value, 'u') })
    return value
  })
  return found
}

/** Takes texts that match apart, and repeats each short piece of them. */
function attacksOn({ source, flags }: RegExp): Attack[] {
  // Upper and lower case make no difference to the time.
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

/** What a text looks like, so that not every letter makes another attack. */
function kindsIn(text: string): string {
  return text.replace(/\d/g, '0').replace(/[a-z]/gi, 'a').replace(/(.)\1/gs, '$1')
}

/** Whether it has read all of them in time, with what it expects after them and with something else. */
async function isFast(
  expression: RegExp,
  attacks: Attack[],
  deadline = DEADLINE,
): Promise<boolean> {
  const worker = new Worker(
    `const { parentPort, workerData: { expression, attacks, length } } = require('node:worker_threads')
    for (const [before, repeated, after] of attacks) {
      const text = before + repeated.repeat(length / repeated.length)
      for (const ending of [after, '\\0', '\\n!']) (text + ending).replace(expression, '')
    }
    parentPort.postMessage('done')`,
    { eval: true, workerData: { expression, attacks, length: MEGABYTE } },
  )
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), deadline)
    worker.once('message', () => resolve(true))
    worker.once('error', reject)
    worker.once('exit', () => clearTimeout(timer))
  }).finally(() => worker.terminate()) as Promise<boolean>
}
