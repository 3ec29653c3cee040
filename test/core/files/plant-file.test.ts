/** How files are recognized, as people have them. */
import t from 'tap'
import type { FileProblem } from '../../../core/files/file-kind.ts'
import type { FileChoices, PlantFile } from '../../../core/files/plant-file.ts'
import { recordFormats } from '../../../core/files/record-formats.ts'
import { recordMapper } from '../../../core/files/record-mapper.ts'
import { members } from '../../../core/members/members.gen.ts'
import { readAll, recognize } from './read-records.ts'

/** The columns of the id, the name and the tag. */
function guessOf({ guess, columns }: PlantFile): string {
  const labelOf = (key: string) => columns.find((column) => column.key === key)?.label
  return ['id', 'name', 'tag'].map((name) => guess[name]?.map(labelOf).join('+') ?? '').join()
}

/** What is read of a file: its first plants. */
async function readPlants(content: string | Uint8Array, choices: FileChoices = {}) {
  const file = await recognize(content, choices)
  const read = recordMapper(members, file.guess, file.format)
  const records = await readAll(file, content)
  return { ...file, plants: records.map(read), numbers: records.map(({ number }) => number) }
}

const ABIES = { id: 1n, name: 'Abies alba', tag: 'Tree' }
const MALUS = { id: 2n, name: 'Malus × domestica', tag: 'Tree' }
const BOTH = [ABIES, MALUS]

for (const { what, content, separator, quote = '"', header = 1, guess = 'id,name,tag', plants } of [
  {
    what: 'vertical bars',
    content: 'id|name|tag\n1|Abies alba|Tree\n2|Malus × domestica|Tree\n',
    separator: '|',
    plants: BOTH,
  },
  {
    what: 'a title with a comma before semicolons',
    content: 'Plants, spring 2026;;\nid;name;tag\n1;Abies alba;Tree\n2;Malus × domestica;Tree\n',
    separator: ';',
    header: 2,
    plants: BOTH,
  },
  {
    what: 'a comma in the header and semicolons',
    content: 'Nr;Name, author;Group\n1;Abies alba Mill.;Tree\n2;Acer;Tree\n',
    separator: ';',
    guess: 'Nr,Name, author,Group',
  },
  {
    what: 'a comma in every row and tabs',
    content: 'id\tname, author\ttag\n1\tAbies alba, Mill.\tTree\n2\tAcer, L.\tTree\n',
    separator: '\t',
    guess: 'id,name, author,tag',
  },
  {
    what: 'a semicolon in a preamble and tabs',
    content:
      '# exported; all plants\nid\tname\ttag\n1\tAbies alba\tTree\n2\tMalus × domestica\tTree\n',
    separator: '\t',
    header: 2,
    plants: BOTH,
  },
  {
    what: 'a comma in dates, semicolons and no header',
    content: 'April 15, 2026;1;Abies alba;Tree\nApril 16, 2026;2;Acer campestre;Tree\n',
    separator: ';',
    header: 'none',
    guess: ',Column 3,',
  },
  { what: 'asterisks', content: 'id*name\n1*Abies\n2*Acer\n', separator: '*', guess: 'id,name,' },
  {
    what: 'a preamble of twelve lines',
    content: `${'A line of the report\n'.repeat(11)}id,name,tag\n1,Abies alba,Tree\n2,Malus × domestica,Tree\n`,
    separator: ',',
    header: 12,
    plants: BOTH,
  },
  {
    what: 'a preamble of two columns',
    content:
      'Garden,X\nDate,2026-11-28\nUser,Y\n\nid,name,tag\n1,Abies alba,Tree\n2,Malus × domestica,Tree\n',
    separator: ',',
    header: 5,
    plants: BOTH,
  },
  {
    what: 'names alone, one of them with a comma',
    content: "Abies alba Mill.\nAcer campestre L.\nRosa 'Peace', pink\n",
    separator: '',
    header: 'none',
    guess: ',Column 1,',
    plants: [
      { name: 'Abies alba Mill.' },
      { name: 'Acer campestre L.' },
      { name: "Rosa 'Peace', pink" },
    ],
  },
  {
    what: 'names below a header',
    content: 'name\nAbies\nAcer\n',
    separator: '',
    guess: ',name,',
    plants: [{ name: 'Abies' }, { name: 'Acer' }],
  },
  {
    what: 'single quotes',
    content: "'id','name','tag'\n'1','Abies alba','Tree'\n'2','Malus × domestica','Tree'\n",
    separator: ',',
    quote: "'",
    plants: BOTH,
  },
  {
    what: 'quotes that are text, as in the files of GBIF',
    content: 'id\tname\ttag\n1\t"Abies" alba\tTree\n2\t"Malus\tTree\n3\tAcer\tTree\n',
    separator: '\t',
    quote: '',
    plants: [
      { id: 1n, name: '"Abies" alba', tag: 'Tree' },
      { id: 2n, name: '"Malus', tag: 'Tree' },
      { id: 3n, name: 'Acer', tag: 'Tree' },
    ],
  },
  {
    what: 'blanks before quotes',
    content: 'id, name, tag\n1, "Abies alba", "Tree"\n2, "Malus × domestica" , "Tree"\n',
    separator: ',',
    guess: 'id, name, tag',
    plants: BOTH,
  },
  {
    what: 'a separator that a first line names',
    content: 'sep=;\r\nid;a, b\r\n4;x\r\n5;y\r\n',
    separator: ';',
    header: 2,
    guess: 'id,,',
  },
  {
    what: 'a separator that is named in quotes',
    content: '"sep=:"\rid:name\r4:x\r',
    separator: ':',
    header: 2,
    guess: 'id,name,',
  },
  {
    what: 'a repeated column',
    content: 'id,name,name,tag\n1,Abies alba,Silver fir,Tree\n',
    separator: ',',
    guess: 'id,name (column 2),tag',
    plants: [ABIES],
  },
  {
    what: 'a column without a name',
    content: ',name,tag\n0,Abies alba,Tree\n1,Acer,Tree\n',
    separator: ',',
    guess: ',name,tag',
  },
  {
    what: 'pot sizes that could be ids',
    content: 'Botanical name;Pot size;Price\nAbies;3;12\nAcer;5;15\nTilia;3;11\n',
    separator: ';',
    guess: ',Botanical name,',
  },
  {
    what: 'numbers that repeat',
    content: 'Nr;Name\n3;Abies\n5;Acer\n3;Tilia\n',
    separator: ';',
    guess: ',Name,',
  },
  {
    what: 'ids with leading zeros',
    content: 'Accession Number,Scientific Name\n000123,Abies alba\n000124,Acer\n',
    separator: ',',
    guess: ',Scientific Name,',
  },
  {
    what: 'genus, species and author',
    content: 'id,genus,species,author\n1,Abies,alba,Mill.\n2,Acer,,\n',
    separator: ',',
    guess: 'id,genus+species+author,',
    plants: [
      { id: 1n, name: 'Abies alba Mill.' },
      { id: 2n, name: 'Acer' },
    ],
  },
] as const) {
  t.test(`${what}: recognized`, async (t) => {
    for (const ends of ['\n', '\r\n', '\r']) {
      const text = content.replace(/\r\n|\r|\n/g, ends)
      const file = await readPlants(text)
      t.equal(file.format, 'csv')
      t.match(file.dialect, { separator, quote })
      t.equal(file.header, header)
      t.equal(guessOf(file), guess)
      if (plants !== undefined) {
        t.strictSame(file.plants, plants)
      }
    }
  })
}

t.test('what was recognized can be corrected', async (t) => {
  const content = 'id,name\n1;5,Abies\n2;5,Acer\n'
  const semicolons = await readPlants(content, { separator: ';', header: 'none' })
  t.strictSame(semicolons.columns.length, 1)
  const quotes = await readPlants('id,name\n1,"Abies"\n', { quote: '' })
  t.strictSame(quotes.plants, [{ id: 1n, name: '"Abies"' }])
  const third = await readPlants('id,name\n1,a\nid,name\n2,b\n', { header: 3 })
  t.strictSame(third.plants, [{ id: 2n, name: 'b' }])
  t.strictSame(third.numbers, [4])
  const ndjson = await readPlants('{"id":1,"name":"a"}\n', { format: 'csv' })
  t.equal(ndjson.format, 'csv')
})

const encoded = {
  macintosh: { bytes: [0x42, 0x8a, 0x75, 0x6d, 0x65], text: 'Bäume' },
  'windows-1250': { bytes: [0x54, 0xf8, 0x65, 0x9a], text: 'Třeš' },
  'windows-1251': { bytes: [0xc4, 0xf3, 0xe1], text: 'Дуб' },
  shift_jis: { bytes: [0x83, 0x43, 0x83, 0x60], text: 'イチ' },
}

for (const [encoding, { bytes, text }] of Object.entries(encoded)) {
  t.test(`${encoding} can be chosen`, async (t) => {
    const content = Buffer.concat([
      Buffer.from('id,name\n1,'),
      Buffer.from(bytes),
      Buffer.from('\n'),
    ])
    t.equal((await recognize(content)).encoding, 'windows-1252', 'the guess')
    const { plants } = await readPlants(content, { encoding: encoding as 'macintosh' })
    t.strictSame(plants, [{ id: 1n, name: text }])
  })
}

const CSV = 'id,name,tag\n4,Abies é €,\n'
const LITTLE = Buffer.from(CSV, 'utf16le')

for (const { encoding, content } of [
  { encoding: 'utf-8', content: Buffer.from(CSV) },
  { encoding: 'utf-8', content: Buffer.from(`\ufeff${CSV}`) },
  { encoding: 'utf-16le', content: Buffer.from(`\ufeff${CSV}`, 'utf16le') },
  { encoding: 'utf-16be', content: Buffer.from(`\ufeff${CSV}`, 'utf16le').swap16() },
  { encoding: 'utf-16le', content: LITTLE },
  { encoding: 'utf-16be', content: Buffer.from(LITTLE).swap16() },
  { encoding: 'windows-1252', content: Buffer.from(CSV.replace('€', '\x80'), 'latin1') },
]) {
  t.test(`${encoding} is recognized`, async (t) => {
    const file = await readPlants(content)
    t.equal(file.encoding, encoding)
    t.strictSame(file.plants, [{ id: 4n, name: 'Abies é €', tag: null }])
  })
}

t.test('a replacement character can be part of valid text', async (t) => {
  t.match(await readPlants('id,name\n4,\ufffd\n'), {
    encoding: 'utf-8',
    plants: [{ id: 4n, name: '\ufffd' }],
  })
})

t.test('a byte that is not UTF-8 costs a row', async (t) => {
  const content = Buffer.concat([
    Buffer.from('id,name\n1,Abies é\n2,Ac'),
    Buffer.from([0xe9]),
    Buffer.from('r\n3,Malus ×\n'),
  ])
  for (const bytes of [1, 3, 1000]) {
    const file = await recognize(content)
    const records = await readAll(file, content, bytes)
    t.strictSame(
      records.map(({ number, problem }) => [number, problem]),
      [
        [2, undefined],
        [3, 'record is not valid UTF-8'],
        [4, undefined],
      ],
    )
  }
})

for (const {
  what,
  content,
  array,
  arrays = array === undefined ? [] : [array],
  guess = 'id,name,tag',
  plants = BOTH,
} of [
  {
    what: 'lines that end with commas',
    content: BOTH.map((plant) => `${json(plant)},`).join('\n'),
  },
  { what: 'an array', content: json(BOTH) },
  { what: 'one object on a line', content: json(ABIES), plants: [ABIES] },
  {
    what: 'one object with an array',
    content: '{"id":1,"name":"Abies alba","tag":"Tree","x":[{"y":1}]}',
    plants: [ABIES],
  },
  {
    what: 'an array after an object',
    content: `{"meta": {"total": 2}, "data": ${json(BOTH)}}`,
    array: 'data',
  },
  {
    what: 'an array with line breaks',
    content: `{\n"links": {"x": "[{"},\n"plants": [\n${BOTH.map(json).join(',\n')}\n]\n}`,
    array: 'plants',
  },
  {
    what: 'an empty array first',
    content: `{"errors": [], "data": ${json(BOTH)}, "next": [1]}`,
    array: 'data',
  },
  {
    what: 'an array in an object in an object',
    content: `{"a": {"b": ${json(BOTH)}}, "c": [{}]}`,
    array: 'a.b',
    arrays: ['a.b', 'c'],
  },
  {
    what: 'the fields of Airtable',
    content:
      '{"records": [{"id": "rec1", "fields": {"Name": "Abies alba", "Id": 1, "Tag": "Tree"}}]}',
    array: 'records',
    guess: 'fields.Id,fields.Name,fields.Tag',
    plants: [ABIES],
  },
  {
    what: 'the properties of GeoJSON',
    content: `{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": ${json(ABIES)}, "geometry": {"coordinates": [1, 2]}}]}`,
    array: 'features',
    guess: 'properties.id,properties.name,properties.tag',
    plants: [ABIES],
  },
  {
    what: 'ids as text',
    content: '[{"id": "1", "name": "Abies alba", "tag": "Tree"}]',
    plants: [ABIES],
  },
]) {
  t.test(`${what}: found`, async (t) => {
    const file = await readPlants(content)
    t.equal(file.array, array)
    t.strictSame(file.arrays, arrays)
    t.equal(guessOf(file), guess)
    t.strictSame(file.plants, plants)
  })
}

const ONE_OBJECT = /^This is one JSON object without an array of objects. Write the plants as /

t.test('JSON without an array is none, even if that is chosen', async (t) => {
  await t.rejects(recognize('{\n"id": 1,\n"name": "a"\n}', { format: 'json' }), {
    message: ONE_OBJECT,
  })
})

t.test('another array can be chosen', async (t) => {
  const content = `{"included": [{"x": 1}], "data": ${json(BOTH)}}`
  t.equal((await recognize(content)).array, 'included')
  t.strictSame((await readPlants(content, { array: 'data' })).plants, BOTH)
})

const AS_TABLE = 'Open it in its program, and save or export the plants as XLSX or CSV.'

for (const { what, content, message } of [
  { what: 'an empty file', content: '', message: 'This file is empty.' },
  { what: 'a PNG', content: '\x89PNG\r\n\x1a\n', message: /^This is an image\. Plants can be / },
  { what: 'a PDF', content: '%PDF-1.7', message: `This is a PDF file. ${AS_TABLE}` },
  { what: 'an XLS', content: '\xd0\xcf\x11\xe0\xa1', message: /^This is an old Excel workbook/ },
  {
    what: 'an ODS',
    content: 'PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.spreadsheet',
    message: `This is an OpenDocument spreadsheet. ${AS_TABLE}`,
  },
  {
    what: 'a ZIP',
    content: 'PK\x03\x04\0plants.csv',
    message: 'This is a ZIP file. Unpack it first.',
  },
  {
    what: 'a gzip',
    content: '\x1f\x8b\x08',
    message: 'This is a file compressed by gzip. Unpack it first.',
  },
  {
    what: 'SQLite',
    content: 'SQLite format 3\0',
    message: `This is a SQLite database. ${AS_TABLE}`,
  },
  {
    what: 'HTML',
    content: '\xef\xbb\xbf<table><tr><td>id',
    message: /^This is a web page, even if /,
  },
  {
    what: 'HTML after blanks',
    content: '\n\n <!DOCTYPE html>',
    message: /^This is a web page, even if /,
  },
  { what: 'XML', content: '<?xml version="1.0"?>', message: `This is an XML file. ${AS_TABLE}` },
  { what: 'SYLK', content: 'ID;PWXL;N;E\n', message: `This is a SYLK spreadsheet. ${AS_TABLE}` },
  {
    what: 'Parquet',
    content: 'PAR1\x01\x02',
    message: 'This is a Parquet file. Convert it to CSV or NDJSON.',
  },
  {
    what: 'a pointer',
    content: 'version https://git-lfs.github.com/spec/v1\noid',
    message: /^This is a pointer of Git LFS/,
  },
  {
    what: 'Markdown',
    content: '| id | name |\n| --- | :-: |\n| 1 | a |\n',
    message: /^This is a Markdown table\. Paste it/,
  },
  {
    what: 'other bytes',
    content: '\x7fELF\0\0\0\0',
    message: /^This is not a text file\. Plants can be /,
  },
  {
    what: 'comments before an array',
    content: '// plants\n[\n/* first */ {"id": 1}]',
    message: 'This is JSON with comments, which JSON does not have. Remove them, from line 1 on.',
  },
  { what: 'plants by their ids', content: '{"1": {"name": "Abies"}}', message: ONE_OBJECT },
  { what: 'columns', content: '{"id": {"0": 1}, "name": {"0": "Abies"}}', message: ONE_OBJECT },
  {
    what: 'an object with line breaks',
    content: '{\n"id": 1,\n"name": "a"\n}',
    message: ONE_OBJECT,
  },
  {
    what: 'rows as arrays',
    content: '[["id", "name"], [1, "Abies"]]',
    message:
      /^Item 1: the record is not an object in braces\. Write the plants as an array of objects/,
  },
  {
    what: 'comments',
    content: '[\n{"id": 1} // one\n,\n\n{"id": 2} /* two */]',
    message:
      /^Item 1: the record is not valid JSON \(line 2\): JSON has no comments; remove them\. /,
  },
  {
    what: 'NaN',
    content: '[{"id": 1, "x": NaN}]',
    message:
      /^Item 1: the record is not valid JSON \(line 1\): JSON has no NaN or Infinity; write null\. /,
  },
]) {
  t.test(`${what} gets a sentence`, async (t) => {
    const error: FileProblem = await recognize(Buffer.from(content, 'latin1')).then(
      () => t.fail('recognized') as never,
      (error) => error,
    )
    t.match(error.message, message)
  })
}

for (const { what, content } of [
  { what: 'control characters', content: 'id,name\n1,\x01\x02\x03\x1f\n' },
  { what: 'Cyrillic in UTF-16', content: Buffer.from('\ufeffid,name\n1,Берёза\n', 'utf16le') },
  { what: 'Greek in UTF-16', content: Buffer.from('\ufeffid,name\n1,Φυτά του\n', 'utf16le') },
  { what: 'a header like the start of SYLK', content: 'ID;Plant\n1;Abies\n' },
]) {
  t.test(`${what} are text`, async (t) => {
    const { plants } = await readPlants(content)
    t.match(plants, [{ id: 1n, name: /\S+/ }])
  })
}

for (const names of [
  ['id;name;tag;species;group'],
  ['a\nid;name;tag;species;group\nb'],
  Array(5).fill('id|Name|Species|tag|group'),
  ['\tid\tname\ttag\tspecies'],
]) {
  t.test(`an export of ${JSON.stringify(names[0])} is read`, async (t) => {
    const { header, line } = recordFormats.csv
    const plants = names.map((name, index) => ({ id: BigInt(index), name, tag: name }))
    t.same((await readPlants(header + plants.map(line).join(''))).plants, plants)
  })
}

t.test('a chosen format is read even if the first cell looks like another file', async (t) => {
  const { plants } = await readPlants('//,name,id\n[,Abies,1\n', { format: 'csv' })
  t.match(plants, [{ id: 1n, name: 'Abies' }])
})

t.test('a file is recognized in linear time', async (t) => {
  const length = 2 ** 20
  for (const content of [
    `{"a": "${'\\"'.repeat(length / 2)}`,
    `// ${'\n '.repeat(length / 2)}`,
    `/* ${'*/ /*'.repeat(length / 5)}`,
    `{${'"a":['.repeat(length / 5)}`,
    `id,name\n${'"'.repeat(length)}`,
    `id,name\n${',"\n"",'.repeat(length / 6)}`,
    `${' '.repeat(length)}"`,
    `[${'{"a":1},'.repeat(length / 8)}`,
    `|${'-|'.repeat(length / 2)}`,
    `'${"a','".repeat(length / 4)}`,
    '\0a'.repeat(length / 2),
  ]) {
    const start = process.cpuUsage()
    await recognize(content).catch(() => {})
    const { user } = process.cpuUsage(start)
    t.ok(user < 3e6, `${content.slice(0, 20)}: ${user}`)
  }
})

function json(value: unknown): string {
  return JSON.stringify(value, (_name, each) => (typeof each === 'bigint' ? Number(each) : each))
}
