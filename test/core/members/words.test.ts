/** How names are found by words. */
import t from 'tap'
import { findWords, fold, toWordMatch, toWords } from '../../../core/members/words.ts'
import { sampleNames } from '../../helpers/plants/sample-names.ts'

const finds = (name: string, q: string) => toWordMatch(toWords(q))(name)

/** Names as they are, and how people type them. */
const FOUND: readonly [name: string, ...queries: string[]][] = [
  ['Abies alba', 'abies', 'ALBA Abies', 'bie lb', ' abies\u00a0\u3000alba\n', 'abies abies'],
  ['Acalypha berteriana Müll. Arg.', 'mull', 'mu\u0308ll', 'MÜLL ARG', 'müll\u200b. a\u00adrg'],
  ['A. Bo\u0308cher', 'böcher', 'bocher', 'bo\u0308'],
  ['Øllgaard & Łukasz', 'ollgaard', 'lukasz', 'ØLLGAARD'],
  ['Weißenstein', 'weissen', 'WEISSEN', 'wei\u1e9een'],
  ['Œnothera ægypti', 'oenothera aegypti'],
  ['Þórr İstanbul ısırgan Đakovo', 'thorr istanbul isirgan dakovo'],
  ['Ἀσφόδελος', 'ΑΣΦΟΔΕΛΟΣ', 'ασφοδελοσ'],
  ['Дуб черешчатый', 'черешчатыи', 'ДУБ'],
  ['bird’s‑foot', "bird's-foot", 'bird´s−foot', 'birdʼs–foot', 'bird＇s－foot'],
  ["Bird's-foot", 'bird’s‐foot', 'bird‘s—foot', "'S-F"],
  [
    'Abelia ×grandiflora',
    'abelia x grandiflora',
    'xgrandiflora',
    'abelia × grandiflora',
    'Abelia×grandiflora',
  ],
  ['Abelia × grandiflora', 'abelia xgrandiflora', '×grandi', '✕ grandiflora', 'x', '\u00d7\ufe0f'],
  ['Abelia x grandiflora', 'abelia ×grandiflora', 'Abelia✖grandiflora', 'xg'],
  ['× Achnella', 'xachnella', 'x achnella', '×a'],
  ['a x x b', 'xx', 'xb', '× × b'],
  ['Carex × Xanthium', '×xanthium', 'xanthium'],
  ['\ufb01lix', 'FILIX', 'fi'],
  ['가', '\u1100\u1161', '\u1100'],
]

const NOT_FOUND: readonly [name: string, ...queries: string[]][] = [
  ['Abies alba', 'abies pinus', 'abiesalba', '%', 'a_b', 'a.*b'],
  ['Abelia grandiflora', 'xgrandiflora', '×'],
  ['Salix alba', 'xalba'],
  ['', 'x'],
]

t.test('names are found as people type them', async (t) => {
  for (const [name, ...queries] of FOUND) {
    for (const q of queries) t.ok(finds(name, q), `${name}: ${q}`)
  }
  for (const [name, ...queries] of NOT_FOUND) {
    for (const q of queries) t.notOk(finds(name, q), `${name}: ${q}`)
  }
})

t.test('a text of which nothing would be visible has no words', async (t) => {
  t.same(
    [' ', '\u00a0\u2003\u3000', '\u200b\ufeff\u2060', '\u0301', '\u{e0067}'].flatMap(toWords),
    [],
  )
  t.same(toWords(' B  a\tB\u200b '), ['b', 'a'])
})

t.test('each character is compared by itself, and always in the same way', async (t) => {
  const changed: string[] = []
  // Of the other planes, those in use have ideographs, and characters without width at the end.
  const codes = [
    ...Array(0x20000).keys(),
    ...Array.from({ length: 0x200 }, (_, at) => 0xe0000 + at),
  ]
  for (const code of codes) {
    const character = String.fromCodePoint(code)
    if (!character.isWellFormed()) continue
    const folded = fold(character)
    if (fold(folded) !== folded || fold(`aΑ${character}Σ a`) !== `aα${folded}σ a`)
      changed.push(character)
  }
  t.same(changed, [])
  const ascii = String.fromCharCode(...Array(128).keys())
  t.equal(fold(ascii), ascii.toLowerCase(), 'databases find ASCII names with lower()')
})

/** Wrong ways of typing a name. */
const TYPED: Readonly<Record<string, (name: string) => string>> = {
  'in capitals': (name) => name.toUpperCase(),
  'without capitals': (name) => name.toLowerCase(),
  'without diacritics': (name) => name.normalize('NFD').replace(/\p{Mn}/gu, ''),
  'with decomposed letters': (name) => name.normalize('NFD'),
  'with the letter x': (name) => name.replaceAll('×', 'x'),
  'with the letter x and a space': (name) => name.replaceAll(/× ?/g, 'x '),
  'with a cross and a space': (name) => name.replaceAll(/\bx |× ?/g, '× '),
  'without spaces around a cross': (name) => name.replaceAll(/ ?× ?/g, '×'),
  'with other spaces': (name) => name.replaceAll(' ', ' \u00a0'),
  'with other apostrophes and hyphens': (name) => name.replaceAll("'", '’').replaceAll('-', '‑'),
  'with characters without width': (name) => Array.from(name).join('\u200b'),
  'backwards, without the first and last letter': (name) =>
    name.slice(1, -1).split(' ').reverse().join(' '),
}

t.test('every name of the sample is found', async (t) => {
  const names = sampleNames()
  t.ok(names.length >= 300)
  for (const [how, type] of Object.entries(TYPED)) {
    t.same(
      names.filter((name) => !finds(name, type(name))),
      [],
      how,
    )
  }
})

t.test('every part of a name of the sample finds it', async (t) => {
  const names = sampleNames().filter((name) => !/^[\0-\x7f]*$/.test(name))
  for (const name of names.slice(0, 50)) {
    for (let from = 0; from < name.length; from++) {
      for (let to = from + 1; to <= name.length; to++) {
        if (!finds(name, name.slice(from, to))) t.fail(`${name}: ${name.slice(from, to)}`)
      }
    }
  }
})

t.test('the parts that match are known', async (t) => {
  const found = (text: string, q: string) =>
    findWords(text, toWords(q)).map(([from, to]) => text.slice(from, to))
  t.same(found('Abies alba', 'AB lb'), ['Ab', 'lb'])
  t.same(found('Mu\u0308ller, Müller', 'mul'), ['Mu\u0308l', 'Mül'])
  t.same(found('Weiß', 's'), ['ß'])
  t.same(found('Abelia × grandiflora', 'xgrandi'), ['× grandi'])
  t.same(found('× a', 'xa'), ['× a'])
  t.same(found('🌱🌱', '🌱'), ['🌱🌱'])
  t.same(found('aaa', 'aa'), ['aaa'], 'overlapping matches are one part')
  t.same(found('\u0301Abies', 'pinus'), [])
  t.same(found('Abies', ''), [])
})
