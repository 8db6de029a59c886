// What the gateway and its process for a PDF agree on.

/** The most memory the process may take. Common PDFs of a hundred pages take some 110 MiB. */
export const MEMORY_BYTES_MAX = 200 * 1024 * 1024;

/** Between two looks at the memory; that much more may be taken meanwhile. */
export const WATCH_MS = 10;

/** How the process ends when it has no text to give. */
export const PDF_EXIT = { tooLarge: 3, unreadable: 4 } as const;

/** The argument that makes the program that process. */
export const PDF_PROCESS_WORD = "pdf-process";
