import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { FakeClock } from "../../src/base/clock.ts";
import { createLogger, type LoggerOptions, logFormat } from "../../src/telemetry/log.ts";
import { makeRedactor } from "../../src/telemetry/redact.ts";
import { KEY_BEGINNINGS } from "../../src/vendors/look-up.ts";
import { readFiles } from "../architecture/source.ts";
import { anyText } from "../support/any-text.ts";
import { cpuMs } from "../support/real-time.ts";

const START_MS = Date.UTC(2026, 10, 21, 14, 52, 52, 7);

function capture(options: Partial<LoggerOptions> = {}) {
  const chunks: string[] = [];
  const log = createLogger({
    level: "debug",
    format: "json",
    write: (text) => void chunks.push(text),
    clock: new FakeClock(START_MS),
    secrets: [],
    ...options,
  });
  const text = async () => {
    await log.flush();
    return chunks.join("");
  };
  return { log, chunks, text };
}

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("a line", () => {
  test("is JSON with time, level, message and the fields", async () => {
    const { log, text } = capture();
    log.info("listening", { port: 8787, ok: true, nothing: null, left: undefined, host: "127.0.0.1", big: 10n });
    expect(lines(await text())).toEqual([
      {
        time: "2026-11-21T14:52:52.007Z",
        level: "info",
        msg: "listening",
        port: 8787,
        ok: true,
        nothing: null,
        host: "127.0.0.1",
        big: "10",
      },
    ]);
  });

  test("is words on a terminal", async () => {
    const { log, text } = capture({ format: "pretty" });
    log.warn("provider is slow", { provider: "openai", note: "two words", tries: 2 });
    expect(await text()).toBe('14:52:52.007 WARN  provider is slow provider=openai note="two words" tries=2\n');
  });

  test.each(["json", "pretty"] as const)("stays one line whatever the text holds (%s)", async (format) => {
    const { log, text } = capture({ format });
    const evil = 'a\r\n{"level":"error","msg":"forged"}\u001b[2J\u007f\u0085\u2028\u202e\u0000';
    log.info(evil, { path: evil, [evil]: evil, nested: { deep: [evil] } });
    const out = await text();
    expect(out.split("\n")).toHaveLength(2);
    expect(out.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]/);
  });

  test("stays bounded", async () => {
    const { log, text } = capture();
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${index}`, "x".repeat(5000)]));
    log.info("y".repeat(1_000_000), { many, list: Array.from({ length: 1000 }, () => "z"), ...many });
    const out = await text();
    expect(out.length).toBeLessThan(20_000);
    expect(lines(out)[0]).toMatchObject({ truncated: true });
  });

  test("cuts a client's request id at 200", async () => {
    const { log, text } = capture();
    log.request({ requestId: "i".repeat(500), request_id: "i".repeat(500), other: "i".repeat(500) });
    expect(lines(await text())[0]).toMatchObject({
      requestId: "i".repeat(200),
      request_id: "i".repeat(200),
      other: "i".repeat(500),
    });
  });

  test("carries an error with its stack and cause", async () => {
    const { log, text } = capture();
    log.error("failed", { error: new TypeError("outer", { cause: new Error("inner sk-abcdefghijkl") }) });
    const [line] = lines(await text());
    const error = line?.["error"] as { name: string; message: string; stack: string[]; cause: { message: string } };
    expect(error.name).toBe("TypeError");
    expect(error.message).toBe("outer");
    expect(error.stack[0]).toContain("log.test.ts");
    expect(error.cause.message).toBe("inner [redacted]");
  });

  test("shows the stack under a pretty line", async () => {
    const { log, text } = capture({ format: "pretty" });
    log.error("failed", { error: new Error("why") });
    const [head, frame] = (await text()).split("\n");
    expect(head).toContain('error="Error: why"');
    expect(frame).toMatch(/^ {4}at .*log\.test\.ts/);
  });

  test("survives values that fight back", async () => {
    const { log, text } = capture();
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const traps = {
      get boom(): string {
        throw new Error("no");
      },
    };
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no");
        },
      },
    );
    log.info("odd", {
      circle,
      traps,
      proxy,
      fn: () => 1,
      sym: Symbol("s"),
      nan: Number.NaN,
      date: new Date(Number.NaN),
    });
    expect(lines(await text())[0]).toMatchObject({
      traps: { boom: "[unreadable]" },
      proxy: "[unreadable]",
      nan: "NaN",
    });
  });
});

describe("levels", () => {
  test("hold back what is below, and can be changed", async () => {
    const { log, text } = capture({ level: "warn" });
    log.info("no");
    log.request({ status: 200 });
    log.request({ status: 502 });
    log.setLevel("debug");
    log.debug("yes");
    expect(lines(await text()).map((line) => line["msg"])).toEqual(["request", "yes"]);
  });

  test("warnings are handed on at once, other lines together", async () => {
    const { log, chunks } = capture();
    log.info("one");
    log.info("two");
    expect(chunks).toHaveLength(0);
    log.warn("three");
    expect(chunks).toHaveLength(1);
    expect(lines(chunks[0] ?? "")).toHaveLength(3);
  });

  test("a lone line is handed on without a flush", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const { log } = capture({ write: resolve });
    log.info("alone");
    // The logger's own timer does not keep the process alive, so this one does until the line is written.
    const alive = setInterval(() => {}, 5);
    expect(await promise).toContain("alone");
    clearInterval(alive);
  });

  test.each([
    ["auto", true, "pretty"],
    ["auto", false, "json"],
    ["json", true, "json"],
    ["pretty", false, "pretty"],
  ] as const)("format %s, terminal %p: %s", (format, isTerminal, expected) => {
    expect(logFormat(format, isTerminal)).toBe(expected);
  });
});

describe("secrets", () => {
  const word = (alphabet: string, min: number) =>
    fc.string({ unit: fc.constantFrom(...alphabet), minLength: min, maxLength: 60 });
  const ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

  /** A secret, and a text that contains it as real texts do. */
  const planted = fc.oneof(
    word(`${ALNUM}_-`, 16).map((body) => ({ secret: body, text: `sk-${body}` })),
    word(`${ALNUM}_-`, 30).map((body) => ({ secret: body, text: `AIza${body}` })),
    word(ALNUM, 20).map((body) => ({ secret: body, text: `gsk_${body}` })),
    word(ALNUM, 20).map((body) => ({ secret: body, text: `xai-${body}` })),
    fc
      .tuple(word(ALNUM, 10), word(ALNUM, 10), word(`${ALNUM}_-`, 20))
      .map(([head, body, mark]) => ({ secret: mark, text: `eyJ${head}.eyJ${body}.${mark}` })),
    word(`${ALNUM}._~+/-`, 16).map((body) => ({ secret: body, text: `Authorization: Bearer ${body}` })),
    word(ALNUM, 16).map((body) => ({ secret: body, text: `basic ${body}==` })),
    word(`${ALNUM}:@!$`, 12).map((body) => ({ secret: body, text: `smtp://mailer:${body}@mail.example:587/` })),
    word(`${ALNUM}-_.`, 12).map((body) => ({ secret: body, text: `/callback?access_token=${body}&x=1` })),
    word(`${ALNUM} -_.`, 12).map((body) => ({ secret: body, text: `{"client_secret": "${body}"}` })),
    word(`${ALNUM} -_.`, 12).map((body) => ({ secret: body, text: JSON.stringify(`{"password":"${body}"}`) })),
    word(`${ALNUM}+/`, 20).map((body) => ({
      secret: body,
      text: `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----`,
    })),
    word(ALNUM, 12).map((body) => ({ secret: body, text: `Cookie: a=b; session=${body}; c=d` })),
  );
  // Any surrounding text, except letters that would make another word of the planted name or prefix.
  const around = fc.string({ unit: fc.constantFrom(..." \n\t\u0000é({", "\u{1f600}"), maxLength: 30 });

  test("of a known shape never come out", () => {
    fc.assert(
      fc.property(planted, around, around, fc.constantFrom("json", "pretty"), (plant, before, after, format) => {
        const { log, chunks } = capture({ format });
        const text = `${before}${plant.text}\n${after}`;
        const error = new Error(text, { cause: text });
        log.error(text, { note: text, deep: { list: [text, { [text]: text }] }, error, url: text });
        expect(chunks.join("")).not.toContain(plant.secret);
      }),
      { numRuns: 300 },
    );
  });

  test("of a vendor's shape are no plain hexadecimal digits, which are not looked at", () => {
    for (const beginning of KEY_BEGINNINGS.split("|")) {
      const text = beginning.replace(/\\x([\da-f]{2})/g, (_all: string, code: string) =>
        String.fromCharCode(parseInt(code, 16)),
      );
      expect(/^[\da-f-]*$/.test(text)).toBe(false);
    }
    expect(makeRedactor(["0123abcd"])("00-0123abcd-ff")).toBe("00-[redacted]-ff");
  });

  test("that are configured never come out", () => {
    const secret = anyText({ minLength: 6, maxLength: 40 }).filter((text) => text.trim().length > 5);
    fc.assert(
      fc.property(secret, around, fc.constantFrom("json", "pretty"), (exact, before, format) => {
        const { log, chunks } = capture({ format, secrets: [exact, `${exact}-longer`] });
        const text = `${before}${exact}`;
        log.error("m", { text, longer: `${exact}-longer`, coded: encodeURIComponent(exact.toWellFormed()) });
        const out = chunks.join("");
        expect(out).not.toContain(JSON.stringify(exact).slice(1, -1));
        expect(out).not.toContain(encodeURIComponent(exact.toWellFormed()));
        expect(out).not.toContain("-longer");
      }),
      { numRuns: 300 },
    );
  });

  test("are not halved by the cut of a long text", () => {
    fc.assert(
      fc.property(fc.integer({ min: 3900, max: 8400 }), (length) => {
        const secret = "correct-horse-battery-staple";
        const { log, chunks } = capture({ secrets: [secret] });
        log.error(`${".".repeat(length)}${secret}${".".repeat(9000)}`);
        expect(chunks.join("")).not.toContain("correct");
      }),
    );
  });

  test.each([
    ["password", "hunter2"],
    ["refreshToken", "abc"],
    ["client_secret", { a: "b" }],
    ["x-api-key", "abc"],
    ["Set-Cookie", "abc"],
    ["jwtSecret", 123456],
  ])("in a field named %s are hidden whatever they look like", async (name, value) => {
    const { log, text } = capture();
    log.info("m", { [name]: value, nested: { [name]: value }, headers: new Headers({ "x-api-key": "abc" }) });
    expect(lines(await text())[0]).toMatchObject({
      [name]: "[redacted]",
      nested: { [name]: "[redacted]" },
      headers: { "x-api-key": "[redacted]" },
    });
  });

  test("in any field of a request's line are hidden, whatever the lines before held", async () => {
    const files = [...(await readFiles(join(import.meta.dir, "../.."), ["src"])).values()];
    const named = files.flatMap((code) => [...code.matchAll(/\blog\["(\w+)"\] =/g)].map(([, name]) => name!));
    const names = new Set(["request_id", "method", "path", "status", "ms", "upstream_model", "fallbacks", ...named]);
    expect(names.size).toBeGreaterThan(20);
    const configured = "correct-horse-battery";
    const { log, text } = capture({ secrets: [configured] });
    const secrets = [configured, `sk-${"s".repeat(24)}`, `Bearer ${"b".repeat(24)}`, `eyJ${"e".repeat(24)}`];
    const record = (value: unknown) => Object.fromEntries([...names].map((name) => [name, value]));
    const texts = secrets.flatMap((secret) => [
      "plain",
      secret,
      `before ${secret}`,
      secret,
      `${"x".repeat(300)} ${secret}`,
    ]);
    for (const value of texts.flatMap((one) => [one, { [one]: [one] }, 1])) log.request(record(value));
    const out = await text();
    for (const secret of secrets) expect(out).not.toContain(secret.slice(-12));
    const whole = lines(out).filter((line) => !("truncated" in line));
    expect(whole.length).toBeGreaterThan(20);
    for (const line of whole) expect(Object.keys(line)).toEqual(["time", "level", "msg", ...names]);
    // What follows a secret in the same field is written.
    expect(lines(out)[3]).toMatchObject({ model: "[redacted]" });
    log.request(record("plain again"));
    expect(lines(await text()).at(-1)).toMatchObject(record("plain again"));
  });

  test("that are replaced are hidden from then on", async () => {
    const { log, text } = capture();
    log.setSecrets(["first-secret"]);
    log.info("first-secret");
    log.info("second-secret", { note: "second-secret" });
    log.setSecrets(["second-secret"]);
    log.info("second-secret", { note: "second-secret" });
    const shown = lines(await text()).map(({ msg, note }) => [msg, note]);
    expect(shown).toEqual([
      ["[redacted]", undefined],
      ["second-secret", "second-secret"],
      ["[redacted]", "[redacted]"],
    ]);
  });

  test("leave ordinary words alone", async () => {
    const { log, text } = capture();
    const fields = {
      inputTokens: 12,
      tokens_per_second: 3.5,
      url: "https://api.example/v1/chat?x=1",
      model: "task-runner-large",
      keyId: "0190-aa",
      mail: "someone@example.org",
    };
    log.info("no key is configured", fields);
    expect(lines(await text())[0]).toMatchObject({ msg: "no key is configured", ...fields });
  });

  test("hostile text does not make redaction slow", async () => {
    const { log, text } = capture();
    const taken = await cpuMs(async () => {
      for (const piece of ["://", "Bearer ", "password", "eyJ", "sk-", "token=", 'secret\\\\"', "cookie", "@", " "]) {
        log.error(piece.repeat(20_000));
      }
      await text();
    });
    // Linear work takes a few milliseconds, while a quadratic pattern would take minutes.
    expect(taken).toBeLessThan(2000);
  });
});
