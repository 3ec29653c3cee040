/** Soul has no setting for this, but gives its connection to the handlers of extensions. */
export const setSynchronous = {
  method: 'GET',
  path: '/synchronous/:value',
  handler(request, response, db) {
    db.pragma(`synchronous = ${request.params.value}`)
    response.json(db.pragma('synchronous'))
  },
}
