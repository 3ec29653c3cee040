import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import t from 'tap'
import { decodeUtf8, type TextPart } from '../../src/transfer/decode.ts'
import { anyText } from '../helpers/plants/arbitraries.ts'
import { runs } from '../helpers/plants/runs.ts'

/** Decodes bytes that arrive in chunks. */
async function decode(bytes: Buffer, chunkBytes: number): Promise<TextPart[]> {
  async function* chunks() {
    for (let start = 0; start < bytes.length; start += chunkBytes) {
      yield bytes.subarray(start, start + chunkBytes)
    }
  }
  return Array.fromAsync(decodeUtf8(chunks()))
}

const line = fc.oneof(
  anyText().map((text) => Buffer.from(text)),
  fc.constantFrom('é', '€', '🌱', '\ufffd', '\ufeff').map((text) => Buffer.from(text)),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
)

t.test('each line is decoded exactly, or is marked as invalid', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 9 }), async (lines, chunkBytes) => {
      // Without the line breaks that random bytes contain, so that a line stays one.
      const clean = lines.map((bytes) => bytes.filter((byte) => byte !== 0x0a)).map(Buffer.from)
      const file = Buffer.concat(clean.flatMap((bytes) => [bytes, Buffer.from('\n')]))
      const parts = await decode(file, chunkBytes)
      assert.equal(parts.at(-1)?.endByte, file.length)
      const text = parts.map((part) => part.text).join('')
      const start = file.toString().startsWith('\ufeff') ? '\ufeff' : ''
      for (const [index, read] of `${start}${text}`.split('\n').entries()) {
        const bytes = clean[index] ?? Buffer.alloc(0)
        assert.equal(read.isWellFormed(), isUtf8(bytes))
        if (isUtf8(bytes)) assert.equal(read, bytes.toString())
      }
    }),
    { numRuns: runs(200) },
  )
})

t.test('a file that ends within a character is marked as invalid', async (t) => {
  const parts = await decode(Buffer.from('a🌱').subarray(0, 4), 2)
  t.notOk(
    parts
      .map(({ text }) => text)
      .join('')
      .isWellFormed(),
  )
})
