import t from 'tap'
import { cachedFile } from '../../../src/http/docs/cached-file.ts'

const FILE = { type: 'text/plain', content: Buffer.from('plant '.repeat(100)) }

t.test('concurrent first requests share the read and the compression', async (t) => {
  let reads = 0
  const variantFor = cachedFile(async () => {
    reads++
    return FILE
  })
  const codings = ['gzip', 'gzip', 'br', 'identity', 'gzip']
  const variants = await Promise.all(
    codings.map((coding) => variantFor({ 'accept-encoding': coding })),
  )
  t.equal(reads, 1)
  t.equal(variants[0], variants[1])
  t.equal(variants[0], variants[4])
  t.equal(variants[0], await variantFor({ 'accept-encoding': 'gzip' }))
  t.equal(variants[3]?.content, FILE.content, 'identity is not a copy')
})

t.test('an Accept-Encoding that takes long to parse counts as absent', async (t) => {
  const variantFor = cachedFile(async () => FILE)
  const accepts = (length: number) => ({ 'accept-encoding': 'gzip,'.padEnd(length, 'x,') })
  t.equal((await variantFor(accepts(1000))).coding, 'gzip')
  t.equal((await variantFor(accepts(1001))).coding, 'identity')
})

t.test('a failed read is repeated by the next request', async (t) => {
  const failures = [new Error('EMFILE')]
  const variantFor = cachedFile(async () => {
    const failure = failures.pop()
    if (failure !== undefined) throw failure
    return FILE
  })
  const [one, other] = [variantFor({}), variantFor({})]
  await t.rejects(one, { message: 'EMFILE' })
  await t.rejects(other, { message: 'EMFILE' })
  t.equal((await variantFor({})).content, FILE.content)
})
