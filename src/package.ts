import { findPackageJSON } from 'node:module'
import { pathToFileURL } from 'node:url'

/** The description of this package; beside it is what the program reads, in the checkout as where it is installed. */
export const PACKAGE = pathToFileURL(findPackageJSON(import.meta.url) as string)
