import t from 'tap'
import { type ChangeFeed, readLatestCursor } from '../../service/store/change-feed.ts'

t.test('a feed without a latest cursor is reported', async (t) => {
  const feed: ChangeFeed = { readChanges: async () => 'expired', nextCommit: async () => {} }
  await t.rejects(readLatestCursor(feed), { message: 'there is no latest cursor: expired' })
})
