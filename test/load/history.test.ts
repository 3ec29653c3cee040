/** The comparison that `npm run test:patroni` makes detects what it should. */
import t from 'tap'
import { type Change, History } from './history.ts'

const [fir, pine, other] = [
  { id: 1n, name: 'Abies alba Mill.' },
  { id: 1n, name: 'Pinus nigra J.F. Arnold', tag: 'Tree' },
  { id: 1n, name: 'Picea abies (L.) H. Karst.' },
] as const

const create: Change = { kind: 'create', plant: fir }
const update: Change = { kind: 'update', plant: pine }
const removal: Change = { kind: 'removal', plant: fir }

/** Changes of one plant with the status of each response, and what can be stored after them. */
const HISTORIES: [string, [Change, number?][], { possible: object[][]; lost: object[][] }][] = [
  ['a create', [[create, 200]], { possible: [[fir]], lost: [[], [pine]] }],
  ['a create without a response', [[create]], { possible: [[], [fir]], lost: [[pine]] }],
  ['a repeated create', [[create], [create, 200]], { possible: [[fir]], lost: [[]] }],
  [
    'an update',
    [
      [create, 200],
      [update, 200],
    ],
    { possible: [[pine]], lost: [[], [fir]] },
  ],
  [
    'an update without a response',
    [[create, 200], [update]],
    { possible: [[fir], [pine]], lost: [[], [other]] },
  ],
  [
    'a removal',
    [
      [create, 200],
      [removal, 204],
    ],
    { possible: [[]], lost: [[fir]] },
  ],
  [
    'a removal that had been made',
    [[create, 200], [removal], [removal, 404]],
    { possible: [[]], lost: [[fir]] },
  ],
]

for (const [name, changes, { possible, lost }] of HISTORIES) {
  t.test(`the comparison detects the loss of ${name}`, async (t) => {
    const history = new History()
    for (const [change, status] of changes) {
      if (status === undefined) history.unknown(change)
      else history.answered(change, status)
    }
    for (const stored of possible) {
      t.same(history.compare(stored as (typeof fir)[]), { lost: [], duplicated: [] })
    }
    for (const stored of lost) t.equal(history.compare(stored as (typeof fir)[]).lost.length, 1)
  })
}

t.test('the comparison detects responses that contradict each other', async (t) => {
  const contradictions: [Change, number][][] = [
    [[create, 409]],
    [[update, 200]],
    [[removal, 204]],
    [
      [create, 200],
      [create, 409],
    ],
    [
      [create, 200],
      [removal, 404],
    ],
  ]
  for (const changes of contradictions) {
    const history = new History()
    for (const [change, status] of changes) history.answered(change, status)
    t.equal(history.compare([fir]).duplicated.length > 0, true)
  }
})

t.test('the comparison detects a plant that nobody created', async (t) => {
  t.equal(new History().compare([fir]).duplicated.length, 1)
})

t.test(
  'the comparison detects a contest with several winners, or without the stored one',
  async (t) => {
    const contest = (...responses: [typeof fir | typeof pine, number][]) => {
      const history = new History()
      for (const [plant, status] of responses) history.contested(plant, status)
      return history
    }
    t.same(contest([fir, 200], [pine, 409], [fir, 200]).compare([fir]), {
      lost: [],
      duplicated: [],
    })
    t.equal(contest([fir, 200], [pine, 409]).compare([pine]).lost.length, 1)
    t.equal(contest([fir, 200], [pine, 200]).compare([fir]).duplicated.length, 1)
    t.equal(contest([fir, 200], [fir, 409]).compare([fir]).duplicated.length, 1)
    t.equal(contest([fir, 409], [fir, 200]).compare([fir]).duplicated.length, 1)
  },
)
