/** How the records of a ZIP archive start. */
export const LOCAL_HEADER = 0x04034b50
export const DIRECTORY_HEADER = 0x02014b50
export const DIRECTORY_END = 0x06054b50

/** The compression method. */
export const DEFLATED = 8
