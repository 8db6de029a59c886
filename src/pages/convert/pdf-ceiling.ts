// Constants that the gateway and its PDF process share.

/** The memory limit of the process. Common PDFs of a hundred pages take about 110 MiB. */
export const MEMORY_BYTES_MAX = 200 * 1024 * 1024;

/** The interval between two checks of the memory, which can grow meanwhile. */
export const WATCH_MS = 10;

/** Exit codes of a PDF process that has no text to return. */
export const PDF_EXIT = { tooLarge: 3, unreadable: 4 } as const;

/** The argument that starts the program as the PDF process. */
export const PDF_PROCESS_WORD = "pdf-process";
