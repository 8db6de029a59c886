// The mark that a browser's page and its reader agree on. It stands apart because the gateway's start loads the script that
// runs in pages, but not what reads them.

/** The attribute by which the browser's reader marks elements that are not shown: with all in them, or with their own text. */
export const UNSEEN_ATTRIBUTE = "data-unseen-in-browser";
