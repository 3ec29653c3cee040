import type { Random } from './random.ts'

type Make = (length: number, random: Random) => string | Buffer

/** A valid create with one additional member. */
function withMember(text: string): string {
  return `{"id":7,"name":"x","unread":${text}}`
}

const SHAPES: readonly Make[] = [
  () => '',
  () => ' ',
  () => 'null',
  () => '[]',
  () => '{}',
  () => '\ufeff{"id":7,"name":"x"}',
  () => '{"id":7,"name":"x"}{"id":8,"name":"x"}',
  () => '{"id":7,"id":8,"name":"x"}',
  () => '{"id":7,"name":"\\u0000"}',
  () => '{"id":7,"name":"\\ud800"}',
  () => '{"id":7,"name":"x","tag":null}',
  () => '{"__proto__":{"id":7},"name":"x","constructor":{"prototype":{}}}',
  () => '{"id":1e400,"name":"x"}',
  () => '{"id":9223372036854775808,"name":"x"}',
  () => '{"id":7.0000000000000000000001,"name":"x"}',
  () => '{"id":-0,"name":"x"}',
  () => '{"id":1e-400,"name":"x"}',
  () =>
    Buffer.concat([
      Buffer.from('{"id":7,"name":"'),
      Buffer.from([0xff, 0xc0, 0x80]),
      Buffer.from('"}'),
    ]),
  (length) => `{"id":1${'0'.repeat(length)}1,"name":"x"}`,
  (length) => `{"id":7.${'0'.repeat(length)},"name":"x"}`,
  (length) => `{"id":0.${'0'.repeat(length)}7e${length + 1},"name":"x"}`,
  (length) => `{"id":7e-${'9'.repeat(length)},"name":"x"}`,
  (length) => `{"id":7${'0'.repeat(length)}e-${length},"name":"x"}`,
  (length) => withMember(`1${'0'.repeat(length)}1`),
  (length) => withMember(`[${'1,'.repeat(length / 2)}9007199254740993]`),
  (length) => withMember('['.repeat(length) + ']'.repeat(length)),
  (length) => withMember(`${'{"a":'.repeat(length / 6)}1${'}'.repeat(length / 6)}`),
  (length) => withMember('['.repeat(length)),
  (length) => withMember(`{${Array.from({ length: length / 8 }, (_, index) => `"m${index}":1`)}}`),
  (length) => withMember(`{${'"m":1,'.repeat(length / 6)}"m":2}`),
  (length) => `{"id":7,"name":"${'\\u0041'.repeat(length / 6)}"}`,
  (length) => `{"id":7,"name":"${'\\'.repeat(length)}"}`,
  (length) => `{"id":7,"name":"${'x'.repeat(length)}"}`,
  (length) => ' '.repeat(length),
  (length, random) => random.bytes(Math.min(length, 1000)),
]

/** In bytes. One body in a thousand is near or above the default `--body-limit`. */
const LENGTHS = [10, 100, 1000, 5000]

/** Generates a body that is expensive, invalid or ambiguous as JSON. */
export function hostileBody(random: Random): Buffer {
  const length = random.oneIn(1000)
    ? random.pick([100_000, 1_040_000, 1_100_000])
    : random.pick(LENGTHS)
  const body = random.pick(SHAPES)(length, random)
  return typeof body === 'string' ? Buffer.from(body) : body
}
