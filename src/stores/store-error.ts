/** A store cannot be opened; the message says why, in one line for whoever runs the service. */
export class StoreError extends Error {}
