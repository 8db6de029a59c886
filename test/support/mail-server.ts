// An SMTP server on loopback that requires STARTTLS and a password, and stores parsed mails.

import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";
import { TEST_CERT, TEST_KEY } from "./tls.ts";

export interface MailServer {
  /** The URL with user name and password. The certificate is self-signed, so it is not verified. */
  readonly url: string;
  readonly mails: readonly ParsedMail[];
  /** How each mail was delivered. */
  readonly sessions: readonly { secure: boolean; user: string | undefined }[];
  /** Refuses this many mails, temporarily or permanently. */
  refuse(times: number, responseCode: number): void;
  /** Resolves when `count` mails have arrived. */
  received(count: number): Promise<readonly ParsedMail[]>;
  close(): Promise<void>;
}

const USER = "gateway";
const PASSWORD = "smtp-pass-word-1";

/** Starts the server. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ParsedMail[] = [];
  const sessions: { secure: boolean; user: string | undefined }[] = [];
  let waiting: (() => void)[] = [];
  let refusals = 0;
  let refusalCode = 451;
  const server = new SMTPServer({
    key: TEST_KEY,
    cert: TEST_CERT,
    authMethods: ["PLAIN", "LOGIN"],
    onAuth({ username, password }, _session, done) {
      if (username === USER && password === PASSWORD) done(null, { user: username });
      else done(new Error("Invalid username or password"));
    },
    onData(stream, session, done) {
      const refused = refusals > 0;
      if (refused) refusals--;
      simpleParser(stream).then((mail) => {
        if (refused) return done(Object.assign(new Error("not now"), { responseCode: refusalCode }));
        mails.push(mail);
        sessions.push({ secure: session.secure, user: session.user });
        done();
        const told = waiting;
        waiting = [];
        for (const tell of told) tell();
      }, done);
    },
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as { port: number };
  return {
    url: `smtp://${USER}:${PASSWORD}@127.0.0.1:${port}/?requireTLS=true&tls.rejectUnauthorized=false`,
    mails,
    sessions,
    refuse(times, responseCode) {
      refusals = times;
      refusalCode = responseCode;
    },
    async received(count) {
      while (mails.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return mails;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
