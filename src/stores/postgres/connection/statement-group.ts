import pg from 'pg'

/** A statement with its parameters. */
export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
}

/**
 * Runs statements one after the other in one round trip, up to the first that fails. The protocol's Sync follows the
 * last one, so a pooler runs them all on one connection.
 *
 * @param statements at least two
 * @returns their results
 */
export function runGroup(
  client: pg.ClientBase,
  statements: readonly [Statement, Statement, ...Statement[]],
): Promise<pg.QueryResult[]> {
  const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult[]>()
  // Only the extended protocol sends statements separately. Between them, the server applies changed settings.
  const queries = statements.map(({ text, values = [] }) =>
    new pg.Query({ text, values: [...values], queryMode: 'extended' } as pg.QueryConfig)
      // Emitted if the driver cannot send a value.
      .on('error', reject),
  )
  // The driver collects the results of a query that has several.
  const group = new pg.Query(statements[0].text)
  group.on('end', (results) => resolve(results as unknown as pg.QueryResult[]))
  group.on('error', reject)
  group.submit = (connection) => {
    const withoutSync: pg.Connection = Object.create(connection, { sync: { value: () => {} } })
    connection.stream.cork()
    for (const query of queries) query.submit(withoutSync)
    connection.sync()
    connection.stream.uncork()
  }
  client.query(group)
  return promise
}
