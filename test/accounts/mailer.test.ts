// The mailer over a real SMTP server and over files: deliveries, retries and failures.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { simpleParser } from "mailparser";
import { createMailer, type MailerOptions } from "../../src/accounts/mail/mailer.ts";
import { resetMail, verificationMail } from "../../src/accounts/mail/mails.ts";
import { type MailTransport, outboxTransport, smtpTransport } from "../../src/accounts/mail/transport.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";

const FROM = "Sallyport <noreply@gateway.example>";
const QUICK = { baseMs: 1, maxMs: 2 };

let server: MailServer;
beforeAll(async () => {
  server = await startMailServer();
});
afterAll(() => server.close());

function mailerOf(transport: MailTransport, options: Partial<MailerOptions> = {}) {
  const lines: { level: string; message: string; fields: unknown }[] = [];
  const at = (level: string) => (message: string, fields?: unknown) => void lines.push({ level, message, fields });
  const log = { info: at("info"), warn: at("warn"), error: at("error") };
  const mailer = createMailer({ transport: () => transport, from: () => FROM, log, backoff: QUICK, ...options });
  return { mailer, lines };
}

const aMail = (name = "alice") => verificationMail(`${name}@example.com`, name, { code: "123456", minutes: 10 });

describe("SMTP", () => {
  test("delivers text and HTML over STARTTLS with a password", async () => {
    const before = server.mails.length;
    const { mailer } = mailerOf(smtpTransport(server.url));
    expect(
      mailer.send(
        resetMail("alice@example.com", "<b>alice</b>", { link: "https://g.example/x#token=T&a", minutes: 30 }),
      ),
    ).toBe(true);
    const mail = (await server.received(before + 1)).at(-1)!;
    await mailer.idle();
    expect(server.sessions.at(-1)).toEqual({ secure: true, user: "gateway" });
    expect(mail.from?.text).toBe('"Sallyport" <noreply@gateway.example>');
    expect(mail.to).toMatchObject({ text: "alice@example.com" });
    expect(mail.subject).toBe("Set a new password");
    expect(mail.text).toContain("\nhttps://g.example/x#token=T&a\n");
    expect(mail.html).toContain('href="https://g.example/x#token=T&amp;a"');
    expect(mail.html).toContain("&lt;b&gt;alice");
    expect(mail.headers.get("auto-submitted")).toBe("auto-generated");
    expect(mailer.state()).toEqual({ status: "ok", transport: "smtp", queued: 0, delivered: 1, failed: 0 });
  });

  test("an address cannot name a second receiver", async () => {
    const before = server.mails.length;
    const { mailer } = mailerOf(smtpTransport(server.url));
    mailer.send({ ...aMail(), to: "a@example.com, b@example.com\r\nBcc: c@example.com" });
    await mailer.idle();
    for (const { to, bcc } of server.mails.slice(before)) {
      expect([to, bcc].flat().flatMap((field) => field?.value ?? []).length).toBeLessThan(2);
    }
  });

  test("tries again after a passing refusal", async () => {
    server.refuse(2, 451);
    const before = server.mails.length;
    const { mailer, lines } = mailerOf(smtpTransport(server.url));
    mailer.send(aMail());
    await mailer.idle();
    expect(server.mails.length).toBe(before + 1);
    expect(lines.map(({ level }) => level)).toEqual(["warn", "warn"]);
    expect(mailer.state()).toMatchObject({ status: "ok", delivered: 1, failed: 0 });
  });

  test("gives up at once when the refusal is for good", async () => {
    server.refuse(1, 550);
    const { mailer, lines } = mailerOf(smtpTransport(server.url));
    mailer.send(aMail());
    await mailer.idle();
    expect(lines.map(({ level }) => level)).toEqual(["error"]);
    expect(JSON.stringify(lines)).not.toContain("123456");
    expect(mailer.state()).toMatchObject({ status: "degraded", delivered: 0, failed: 1 });
  });

  test("a wrong password is seen", async () => {
    const { mailer } = mailerOf(smtpTransport(server.url.replace("smtp-pass-word-1", "wrong")));
    mailer.send(aMail());
    await mailer.idle();
    expect(mailer.state()).toMatchObject({ status: "degraded", failed: 1 });
  });
});

describe("the queue", () => {
  test("gives up after its tries", async () => {
    let tries = 0;
    const dead: MailTransport = { kind: "smtp", deliver: () => Promise.reject(new Error(`down ${++tries}`)) };
    const { mailer } = mailerOf(dead, { tries: 3 });
    mailer.send(aMail());
    await mailer.idle();
    expect(tries).toBe(3);
    expect(mailer.state()).toMatchObject({ status: "degraded", queued: 0, failed: 1 });
  });

  test("is bounded, delivers two at a time, and says when it is full", async () => {
    let open = 0;
    let most = 0;
    const { promise: gate, resolve: release } = Promise.withResolvers<void>();
    const slow: MailTransport = {
      kind: "smtp",
      async deliver() {
        most = Math.max(most, ++open);
        await gate;
        open--;
        return undefined;
      },
    };
    const { mailer } = mailerOf(slow, { queueMax: 3 });
    expect([1, 2, 3, 4].map(() => mailer.send(aMail()))).toEqual([true, true, true, false]);
    release();
    await mailer.idle();
    expect(most).toBe(2);
    expect(mailer.state()).toMatchObject({ delivered: 3, failed: 1 });
  });

  test("a stop sends what is ready, loses what waits for another try, and says so", async () => {
    let dead = false;
    const delivered: string[] = [];
    const flaky: MailTransport = {
      kind: "smtp",
      deliver: async (mail) => {
        if (dead) throw new Error("down");
        delivered.push(mail.to);
        return undefined;
      },
    };
    const { mailer, lines } = mailerOf(flaky, { backoff: { baseMs: 60_000, maxMs: 60_000 } });
    dead = true;
    mailer.send(aMail("late"));
    while (lines.length === 0) await new Promise(setImmediate);
    dead = false;
    mailer.send(aMail("ready"));
    await mailer.stop();
    expect(delivered).toEqual(["ready@example.com"]);
    expect(lines.at(-1)).toMatchObject({ level: "error", fields: { mails: 1 } });
    expect(mailer.send(aMail())).toBe(false);
  });
});

describe("the outbox", () => {
  const directory = mkdtempSync(join(tmpdir(), "sallyport-outbox-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("holds a whole mail per file, for the owner alone, and the log says where", async () => {
    const outbox = join(directory, "outbox");
    const { mailer, lines } = mailerOf(outboxTransport(outbox));
    mailer.send(aMail());
    await mailer.idle();
    const [file = ""] = readdirSync(outbox);
    expect(file).toEndWith(".eml");
    expect(statSync(join(outbox, file)).mode & 0o777).toBe(0o600);
    expect(statSync(outbox).mode & 0o777).toBe(0o700);
    const mail = await simpleParser(readFileSync(join(outbox, file)));
    expect(mail.text).toContain("123456");
    expect(mail.html).toContain("123456");
    expect(lines).toMatchObject([{ level: "info", fields: { file: join(outbox, file) } }]);
    expect(mailer.state()).toMatchObject({ status: "ok", transport: "outbox", delivered: 1 });
  });
});
