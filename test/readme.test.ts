import { readFileSync } from 'node:fs'
import t from 'tap'
import { settings } from '../src/config.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

for (const { long, envVar, defaultValueDescription, description } of settings) {
  t.test(`the README tells of ${long} as the program does`, async (t) => {
    const row = readme.split('\n').find((line) => line.includes(`| \`${long}\` |`))
    t.match(row, `\`${envVar}\``)
    t.match(row, `\`${defaultValueDescription}\``)
    t.match(row, description)
  })
}
