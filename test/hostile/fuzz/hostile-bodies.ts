import type { Random } from './random.ts'

type Make = (length: number, random: Random) => string

/** A valid create with one additional member. */
function withMember(text: string): string {
  return `{"id":7,"name":"x","unread":${text}}`
}

const IDS = ['9223372036854775808', '7.0000000000000000000001', '-0', '1e400', '1e-400']

const SHORT = [
  ...['', ' ', 'null', '[]', '{}'],
  ...IDS.map((id) => `{"id":${id},"name":"x"}`),
  // A byte order mark.
  '\xef\xbb\xbf{"id":7,"name":"x"}',
  '{"id":7,"name":"x"}{"id":8,"name":"x"}',
  '{"id":7,"id":8,"name":"x"}',
  '{"id":7,"name":"\\u0000"}',
  '{"id":7,"name":"\\ud800"}',
  '{"id":7,"name":"x","tag":null}',
  '{"__proto__":{"id":7},"name":"x","constructor":{"prototype":{}}}',
  '{"id":7,"name":"\xff\xc0\x80"}',
  '[{"op":"remove","id":7,"__proto__":{"name":"x"}}]',
  '[{"op":"__proto__","id":7},{"op":"constructor","id":7}]',
  '[{"op":"remove","id":7},{"op":"create","id":7.0,"name":"x"}]',
]

const SHAPES: readonly Make[] = [
  ...SHORT.map((body) => () => body),
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
  (length) => `[{"op":"remove","id":7,"ifMatch":"${', '.repeat(length / 2)}"}]`,
  (length) => `[{"op":"remove","id":7,"ifMatch":"${'\\"\\",'.repeat(length / 5)}*"}]`,
  (length, random) => random.bytes(Math.min(length, 1000)).toString('latin1'),
]

/** In bytes. One body in a thousand is near or above the default `--body-limit`. */
const LENGTHS = [10, 100, 1000, 5000]

/** Generates a body that is expensive, invalid or ambiguous as JSON. Each character stands for a byte. */
export function hostileBody(random: Random): string {
  const length = random.oneIn(1000)
    ? random.pick([100_000, 1_040_000, 1_100_000])
    : random.pick(LENGTHS)
  return random.pick(SHAPES)(length, random)
}
