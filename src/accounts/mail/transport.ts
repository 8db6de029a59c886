// Delivers a mail: to an SMTP server, or as an .eml file to the outbox in the data directory. One attempt; the mailer
// retries.

import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Transporter } from "nodemailer";
import { uuid } from "../../base/ids.ts";
import { ipVersion } from "../../base/ip-address.ts";

/** A mail to one recipient. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Delivers a mail, or throws. */
export interface MailTransport {
  readonly kind: "smtp" | "outbox";
  /** Returns the file, if it wrote one. */
  deliver(mail: Mail, from: string): Promise<string | undefined>;
}

/** A permanent delivery failure. */
export function isHopeless(error: unknown): boolean {
  const code = (error as { responseCode?: unknown }).responseCode;
  return typeof code === "number" && code >= 500;
}

/** The library takes 50 ms and 16 MB: it is loaded for the first mail, not at the start. */
function lazily<T extends Transporter<unknown>>(
  make: (nodemailer: typeof import("nodemailer")) => T,
): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= import("nodemailer").then(make);
    return made;
  };
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;

/** By SMTP, with TLS if the server offers it, and only with TLS if a password is sent over a network. */
export function smtpTransport(smtpUrl: string): MailTransport {
  const transport = lazily(({ createTransport }) => createTransport(smtpOptions(smtpUrl)));
  return {
    kind: "smtp",
    async deliver(mail, from) {
      await (await transport()).sendMail(message(mail, from));
      return undefined;
    },
  };
}

function smtpOptions(smtpUrl: string) {
  return {
    url: smtpUrl,
    ...(needsTls(smtpUrl) ? { requireTLS: true } : {}),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // A mail contains only its own text, so the library may not read files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Connects and authenticates as for a delivery, without sending; returns the problem, or undefined. Never shows the password. */
export async function checkSmtp(smtpUrl: string): Promise<string | undefined> {
  const { createTransport } = await import("nodemailer");
  const transport = createTransport(smtpOptions(smtpUrl));
  try {
    await transport.verify();
    return undefined;
  } catch (error) {
    const { code, responseCode } = error as { code?: string; responseCode?: number };
    return [`no session with ${new URL(smtpUrl).host}`, code, responseCode]
      .filter((part) => part !== undefined)
      .join(" ");
  } finally {
    transport.close();
  }
}

/** The operator's parameters in the URL take precedence: `?ignoreTLS=true` or `?requireTLS=false`. */
function needsTls(smtpUrl: string): boolean {
  const url = new URL(smtpUrl);
  if (url.protocol === "smtps:" || url.username === "") return false;
  if (url.searchParams.has("requireTLS") || url.searchParams.has("ignoreTLS")) return false;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isOwnMachine = host === "localhost" || host === "::1" || (ipVersion(host) === 4 && host.startsWith("127."));
  return !isOwnMachine;
}

/** Maximum number of mails in the outbox; the oldest are deleted first. */
const OUTBOX_FILES_MAX = 500;

/** The folder in the data directory for mails without a mail server. */
export const OUTBOX_DIR = "outbox";

/** Writes files, if no mail server is configured. */
export function outboxTransport(directory: string): MailTransport {
  const writer = lazily(({ createTransport }) =>
    createTransport({ streamTransport: true, buffer: true, newline: "windows" }),
  );
  return {
    kind: "outbox",
    async deliver(mail, from) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const { message: bytes } = await (await writer()).sendMail(message(mail, from));
      const path = join(directory, `${uuid()}.eml`);
      // Renamed when complete, so that a watcher of the directory never reads a partial mail.
      await writeFile(`${path}.part`, bytes as Buffer, { mode: 0o600 });
      await rename(`${path}.part`, path);
      const files = (await readdir(directory)).filter((name) => name.endsWith(".eml")).sort();
      for (const old of files.slice(0, Math.max(0, files.length - OUTBOX_FILES_MAX))) {
        await rm(join(directory, old), { force: true });
      }
      return path;
    },
  };
}

function message({ to, subject, text, html }: Mail, from: string) {
  return {
    from,
    // As an object the address is never parsed: it cannot become two.
    to: { name: "", address: to },
    subject,
    text,
    html,
    // Suppresses automatic replies.
    headers: { "Auto-Submitted": "auto-generated" },
  };
}
