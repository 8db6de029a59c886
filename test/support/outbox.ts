// Reads the mails of a program that is not connected to a mail server.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ParsedMail, simpleParser } from "mailparser";

/** Waits for the newest unread mail to this address (and with this subject, if one is given), and returns it. */
export async function mailTo(dataDir: string, address: string, subject?: string): Promise<ParsedMail> {
  for (;;) {
    for (const { path, mail } of (await mails(dataDir)).reverse()) {
      const to = [mail.to].flat().flatMap((field) => field?.value ?? []);
      if (read.has(path) || !to.some((one) => one.address === address)) continue;
      if (subject !== undefined && mail.subject !== subject) continue;
      read.add(path);
      return mail;
    }
    await Bun.sleep(5);
  }
}

const read = new Set<string>();

async function mails(dataDir: string): Promise<{ path: string; mail: ParsedMail }[]> {
  const directory = join(dataDir, "outbox");
  let names: string[];
  try {
    names = readdirSync(directory).filter((name) => name.endsWith(".eml"));
  } catch {
    return []; // Nothing was sent yet.
  }
  const paths = names.sort().map((name) => join(directory, name));
  return Promise.all(paths.map(async (path) => ({ path, mail: await simpleParser(readFileSync(path)) })));
}
