// The licences of what the executable contains. A build replaces this file with the texts (scripts/build.ts).

/** The texts; undefined if the program runs from its sources. */
export const licenceTexts: () => Promise<string | undefined> = async () => undefined;
