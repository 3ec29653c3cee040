/** Faulty answers of a source never make a mirror wrong. */
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  answeredInstead,
  type Fault,
  HTML,
  lostResponse,
  passed,
  startFaultyProxy,
} from '../client/faulty-proxy.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import { startService } from '../helpers/service/service.ts'
import { change, fill, plantsOf, TestMirror } from './mirrored.ts'

/** The tests share it, but each makes changes of its own. */
const service = await startService(t, { config: { bodyLimit: 2 ** 23 } })
await fill(service.store, 1500)
let changes = 0
const changeSource = () => change(service.store, changes++)

let copy: TestMirror
t.beforeEach(async (t) => {
  copy = await TestMirror.open(t as Test, service)
})

const JSON_TYPE = { 'content-type': 'application/json' }

/** Replaces the body of an answer. */
function edited(edit: (body: string) => string | Buffer): Fault {
  return async ({ forward, response }) => {
    const { status, headers, body } = await forward()
    const { 'content-length': _, ...others } = headers
    response.writeHead(status, others).end(edit(body.toString()))
  }
}

/** Replaces the plants or changes of a page, each in JSON. */
function withItems(edit: (items: readonly string[]) => readonly string[]): Fault {
  return edited((body) => `[${edit(body.slice(1, -1).split(/(?<=\}),(?=\{)/))}]`)
}

/** Cuts the connection before the last byte of an answer. */
const cutOff: Fault = async ({ forward, response, cut }) => {
  const { headers, body } = await forward()
  response.writeHead(200, headers).write(body.subarray(0, -1), cut)
}

/** Sends bytes without an end, after a delay each. */
function endless(bytes: string, delayMs: number): Fault {
  return async ({ response }) => {
    response.writeHead(200, JSON_TYPE)
    response.setMaxListeners(0)
    while (!response.destroyed) {
      if (!response.write(bytes))
        await Promise.race([once(response, 'drain'), once(response, 'close')])
      await setTimeout(delayMs)
    }
  }
}

/** A proxy of the service with a fault in the first answer that matches. */
async function faultySource(t: Test, matching: RegExp, fault: Fault) {
  let isPending = true
  const answer: Fault = (exchange) => {
    proxy.faults.push(answer)
    if (!isPending || !matching.test(exchange.line)) return passed(exchange)
    isPending = false
    return fault(exchange)
  }
  const proxy = await startFaultyProxy(t, service, [answer])
  return { url: proxy.url, token: service.token }
}

const pages = [
  { page: 'the first page of plants', matching: /^GET \/plants\?limit/, isCopied: false },
  { page: 'a page of changes', matching: /^GET \/changes\?after=(?!latest)/, isCopied: true },
]

const replaced = (text: string | RegExp, other: string) =>
  edited((body) => body.replace(text, other))

const faults: { what: string; fault: Fault; says: RegExp }[] = [
  { what: 'is cut off', fault: edited((body) => body.slice(0, -9)), says: /unexpected .* 200: \[/ },
  { what: 'is HTML', fault: answeredInstead(200, HTML, '[]'), says: /the type text\/html instead/ },
  { what: 'has no type', fault: answeredInstead(200, {}, '[]'), says: /the type none instead/ },
  {
    what: 'is an error of the contract',
    fault: answeredInstead(404, JSON_TYPE, '{"error":40401,"message":"no such path"}'),
    says: /^the source refuses the request: no such path$/,
  },
  { what: 'has no content', fault: answeredInstead(304), says: /unexpected .* status 304/ },
  {
    what: 'is not UTF-8',
    fault: edited((body) => Buffer.from(body.replace('d', '\xff'), 'latin1')),
    says: /text that is not UTF-8/,
  },
  {
    what: 'has a lone surrogate',
    fault: replaced(/"name":"/, '"name":"\\ud800'),
    says: /whose name must not contain U\+0000 or a lone surrogate/,
  },
  {
    what: 'has an id beyond int64',
    fault: replaced(/"id":-?\d+/, '"id":9223372036854775808'),
    says: /unexpected response/,
  },
  {
    what: 'does not end',
    fault: endless(' '.repeat(2 ** 20), 0),
    says: /an answer of more than 67108864 bytes/,
  },
]

const TINY = '{"id":1,"name":""},'

faults.push(
  {
    what: 'is 60 MB of tiny plants',
    fault: edited(() => `[${TINY.repeat(3_000_000)}{}]`),
    says: /^the source has sent an answer of more than 100000 values; check/,
  },
  {
    what: 'is 60 MB of nested arrays',
    fault: edited(() => '['.repeat(60_000_000)),
    says: /^the source has sent an answer of more than 100000 values; check/,
  },
)

async function refuses(t: Test, matching: RegExp, fault: Fault, says: RegExp): Promise<void> {
  // A slow response would be requested again, without the fault.
  const { timeout } = AbortSignal
  t.intercept(AbortSignal, 'timeout', { value: (ms: number) => timeout(ms * 100) })
  const before = { plants: await plantsOf(copy.store), position: await copy.position() }
  const from = await faultySource(t, matching, fault)
  await t.rejects(copy.run({ from }), { name: 'Error', message: says })
  t.strictSame(await plantsOf(copy.store), before.plants)
  if (before.position !== undefined) t.strictSame(await copy.position(), before.position)
  await copy.run({ from: service })
  t.strictSame(await plantsOf(copy.store), await plantsOf(service.store))
}

// All pages are read in the same way, so each fault is in one kind of page.
for (const [index, { what, fault, says }] of faults.entries()) {
  const { page, matching, isCopied } = pages[index % 2] as (typeof pages)[number]
  t.test(`a mirror stops if ${page} ${what}`, async (t) => {
    if (isCopied) await copy.run()
    await changeSource()
    await refuses(t, matching, fault, says)
  })
}

/** Changes a page of the changes that `change` makes. */
const withoutChange = (index: number) => withItems((all) => all.toSpliced(index, 1))

const swapped = withItems(([first = '', second = '', ...others]) => [second, first, ...others])

t.test('a mirror stops if plants are not in order', async (t) => {
  await refuses(t, /^GET \/plants/, swapped, /plant -10000 after plant -9990/)
})

t.test('a mirror stops if a page of plants is repeated', async (t) => {
  const { body } = await service.call({ method: 'GET', path: '/plants?limit=1000' })
  const repeated = edited(() => body)
  const from = await faultySource(t, /^GET \/plants\?.*after/, repeated)
  await t.rejects(copy.run({ from }), { message: /plant -10000 after plant -10/ })
  t.equal((await plantsOf(copy.store)).length, 1000)
})

t.test('a page of plants without a link is not the last one', async (t) => {
  const from = await faultySource(t, /^GET \/plants/, async ({ forward, response }) => {
    response.writeHead(200, JSON_TYPE).end((await forward()).body)
  })
  await copy.run({ from })
  t.strictSame(await plantsOf(copy.store), await plantsOf(service.store))
})

for (const { what, fault, says } of [
  { what: 'lacks a creation', fault: withoutChange(1), says: /database differs from the source/ },
  { what: 'lacks a removal', fault: withoutChange(3), says: /database differs from the source/ },
  { what: 'lacks its end', fault: withoutChange(-1), says: /cursor of another/ },
  { what: 'is empty instead', fault: edited(() => '[]'), says: /cursor of another/ },
  { what: 'has a change twice', fault: withItems((all) => [...all, ...all]), says: /change twice/ },
] as const) {
  t.test(`a mirror stops if a page of changes ${what}`, async (t) => {
    await copy.run()
    await changeSource()
    await refuses(t, /^GET \/changes\?after=(?!latest)/, fault, says)
  })
}

t.test('a mirror stops if a page of changes is repeated', async (t) => {
  await copy.run()
  const { cursor } = await copy.position()
  await changeSource()
  await copy.run()
  const path = `/changes?after=${cursor}`
  const { headers, body } = await service.call({ method: 'GET', path })
  const repeated = answeredInstead(200, { ...JSON_TYPE, link: headers.link }, body)
  await refuses(t, /^GET \/changes\?after=(?!latest)/, repeated, /a change twice/)
})

for (const [index, { what, fault }] of [
  { what: 'is cut off', fault: cutOff },
  { what: 'is lost', fault: lostResponse },
  { what: 'drips', fault: endless(' ', 20) },
].entries()) {
  const { page, matching, isCopied } = pages[index % 2] as (typeof pages)[number]
  t.test(`a mirror repeats its request if ${page} ${what}`, async (t) => {
    const { timeout } = AbortSignal
    t.intercept(AbortSignal, 'timeout', { value: (ms: number) => timeout(ms / 100) })
    if (isCopied) await copy.run()
    await changeSource()
    await copy.run({ from: await faultySource(t, matching, fault) })
    t.strictSame(await plantsOf(copy.store), await plantsOf(service.store))
  })
}

t.test('strings are not values, whatever they contain', async (t) => {
  const name = '\\",[{:'.repeat(100_000)
  await createIn(service.store, { id: 1_000_000n, name })
  await copy.run()
  await createIn(service.store, { id: 1_000_001n, name: `${name}\\` })
  await copy.run()
  t.strictSame(await plantsOf(copy.store), await plantsOf(service.store))
})
