/** A file cannot be imported, or not any further. The message consists of sentences for the person. */
export class FileProblem extends Error {}
