/** The input that takes the longest to parse for its length, in any size. */

/** Makes a body of about `size` bytes. */
export type Body = (size: number) => Buffer

type Bodies = Readonly<Record<string, Body>>

const DIGITS = '12345678901234567890'

/** Gives each member or object a different short name. */
const base36 = (index: number) => index.toString(36)

/** A single token that fills the body. */
function long(prefix: string, unit: string, suffix: string): Body {
  return (size) => {
    const count = Math.floor((size - prefix.length - suffix.length) / Buffer.byteLength(unit))
    return Buffer.from(prefix + unit.repeat(count) + suffix)
  }
}

/** As many parts as fit, with commas between them. */
function many(prefix: string, unit: string | ((index: number) => string), suffix: string): Body {
  const part = typeof unit === 'string' ? () => unit : unit
  return (size) => {
    const parts: string[] = []
    let length = prefix.length + suffix.length
    for (let index = 0; length < size; index++) {
      const next = part(index)
      parts.push(next)
      length += Buffer.byteLength(next) + 1
    }
    return Buffer.from(prefix + parts.join() + suffix)
  }
}

/** Members in an order that no other object has, so that V8 creates a hidden class for each. */
function shuffleMembers(index: number): string {
  let state = index + 1
  const names = [...'abcdefghijklmnop']
  for (let left = names.length; left > 1; left--) {
    state = (state * 48_271) % 2_147_483_647
    const [chosen = ''] = names.splice(state % left, 1)
    names.push(chosen)
  }
  return `{${names.map((name) => `"${name}":1`).join()}}`
}

const MEMBER = '{"id":1,"name":"a","more":'

/** Bodies of requests. */
export const jsonBodies: Bodies = {
  'long number': long('{"id":', '1', '}'),
  'long number, unread': long('{"x":', '1', '}'),
  'long number, alone': long('', '1', ''),
  '1000…0001': long('{"id":1', '0', '1}'),
  '1000…000': long('{"id":1', '0', '}'),
  '0.000…0001': long('{"id":0.', '0', '1}'),
  '1.000…0001': long('{"id":1.', '0', '1}'),
  '0.000…0e…': long('{"id":0.', '0', '1e1000000}'),
  'long exponent': long('{"id":1e', '9', '}'),
  'long exponent of zeros': long('{"id":1e', '0', '1}'),
  'small numbers': many(`${MEMBER}[`, '1', ']}'),
  'small numbers, one long': many(`${MEMBER}[9007199254740993,`, '1', ']}'),
  'small numbers, alone': many('[9007199254740993,', '1', ']'),
  'numbers of 15 digits': many(`${MEMBER}[`, DIGITS.slice(0, 15), ']}'),
  'numbers of 17 digits': many(`${MEMBER}[`, DIGITS.slice(0, 17), ']}'),
  'numbers of 19 digits': many('[', DIGITS.slice(0, 19), ']'),
  'numbers of 20 digits': many('[', DIGITS, ']'),
  'numbers with an exponent': many('[', '1e16', ']'),
  'numbers far too large': many('[', '9e300', ']'),
  'numbers beyond a double': many('[', '1E400', ']'),
  'numbers with a point': many('[', '0.1', ']'),
  'zeros with a point': many('[', '-0.0', ']'),
  'ids, one after the other': many('{', '"id":1e16', '}'),
  'ids of 19 digits': many('{', `"id":${DIGITS.slice(0, 19)}`, '}'),
  'ids of zeros and an exponent': many('{', '"id":1000000e10', '}'),
  'names, one after the other': many('{', '"name":"\\n"', '}'),
  'members without a name': many('{', '"":1', '}'),
  members: many('{', (index) => `"${base36(index)}":1`, '}'),
  'members named by numbers': many('{', (index) => `"${index}":1`, '}'),
  'members named __proto__': many('{', '"__proto__":[]', '}'),
  'names with escapes': many('{', '"\\u0069d":1', '}'),
  'empty arrays': many(`${MEMBER}[`, '[]', ']}'),
  'empty objects': many('[', '{}', ']'),
  'empty strings': many(`${MEMBER}[`, '""', ']}'),
  'arrays, 62 levels': many(`${MEMBER}[`, '['.repeat(62) + ']'.repeat(62), ']}'),
  'objects, 62 levels': many('[', `${'{"":'.repeat(62)}1${'}'.repeat(62)}`, ']'),
  'arrays without an end': long('', '[', ''),
  'objects without an end': long('', '{"a":', ''),
  'objects of one shape': many('[', '{"id":1}', ']'),
  'objects of many shapes': many('[', (index) => `{"${base36(index)}":1}`, ']'),
  'objects of many orders': many(`${MEMBER}[`, shuffleMembers, ']}'),
  'a long string': long('{"id":1,"name":"', 'x', '"}'),
  'a long string beyond Latin 1': long('{"id":1,"name":"', '🌱', '"}'),
  'a long string, unread': long('{"x":"', 'x', '"}'),
  'a long name': long('{"', 'x', '":1}'),
  'strings like numbers': many('{"name":"', DIGITS.slice(0, 15), '","id":1}'),
  'escaped quotes': long('{"id":1,"name":"', '\\"', '"}'),
  'escaped characters': long('{"id":1,"name":"', '\\u0041', '"}'),
  'lone surrogates': long('{"id":1,"name":"', '\\ud800', '"}'),
  'strings with an escape': many(`${MEMBER}[`, '"\\n"', ']}'),
  literals: many('[', 'true', ']'),
  whitespace: long('', ' ', '{}'),
  'only whitespace': long('', ' ', ''),
  'whitespace between': many('[', ' 1 ', ']'),
  'a string without an end': long('{"id":1,"name":"', 'x', ''),
  'an escape without an end': long('{"id":1,"name":"', '\\\\', '\\'),
  'a comma at the end': many(`${MEMBER}[`, '1', ',]}'),
  'objects of many shapes, invalid': many('[', (index) => `{"${base36(index)}":1}`, ',]'),
  'not UTF-8 at the end': (size) => Buffer.concat([long('"', 'é', '')(size), Buffer.from([0xff])]),
}
