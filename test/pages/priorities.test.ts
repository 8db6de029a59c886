// Work outside of the event loop has a lower priority on a busy machine.

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { createBrowser, findBrowser } from "../../src/pages/browser/browser.ts";
import { childrenOf, procText } from "../../src/pages/browser/processes.ts";
import { createConverter, jobsSize } from "../../src/pages/convert/convert.ts";
import { createPdfReader } from "../../src/pages/convert/pdf-reader.ts";
import { BEHIND } from "../../src/workers/priority.ts";
import { pdfOf, twiceDeflated } from "../support/pdf.ts";

const isLinux = process.platform === "linux";
const threads = () => new Set(readdirSync("/proc/self/task").map(Number));
const OPTIONS = { url: "http://a.example/", onlyMainContent: true, markdown: true, html: false, links: false };

const PAGE = { kind: "html", bytes: Buffer.from("<p>Words"), contentType: null, options: OPTIONS } as const;

test.skipIf(!isLinux)("a page that somebody waits for", async () => {
  const converter = createConverter(1);
  try {
    const before = threads();
    await converter.convert(PAGE, { account: "", timeoutMs: 60_000, later: false });
    const started = [...threads()].filter((id) => !before.has(id) && procText(`/proc/self/task/${id}/comm`) !== "");
    expect(started.map((id) => getPriority(id))).toContain(BEHIND);
    expect(getPriority(0)).toBeLessThan(BEHIND);
  } finally {
    converter.close();
  }
});

test.skipIf(!isLinux)("a page that nobody waits for, in a process of its own", async () => {
  const before = new Set(childrenOf(process.pid));
  const converter = createConverter(1);
  try {
    await converter.convert(PAGE, { account: "", timeoutMs: 60_000, later: true });
    const started = childrenOf(process.pid).filter((pid) => !before.has(pid));
    expect(started.map((pid) => getPriority(pid))).toEqual([BEHIND]);
    expect(getPriority(0)).toBeLessThan(BEHIND);
  } finally {
    converter.close();
  }
});

test.skipIf(!isLinux)("a PDF", async () => {
  const before = new Set(childrenOf(process.pid));
  const stop = new AbortController();
  const bomb = pdfOf(twiceDeflated(400), "/Subtype/Image/Filter[/FlateDecode/FlateDecode]");
  const reading = createPdfReader().read(bomb, {
    account: "",
    bytesMax: 10 << 20,
    timeoutMs: 60_000,
    signal: stop.signal,
  });
  const outcome = reading.catch((error: unknown) => error);
  let child: number | undefined;
  while (child === undefined) {
    await Bun.sleep(1);
    child = childrenOf(process.pid).find((pid) => !before.has(pid));
  }
  expect(getPriority(child)).toBe(BEHIND);
  stop.abort(new Error("seen"));
  expect(String(await outcome)).toContain("seen");
});

// As root, Chromium sets the priorities of its processes itself. For other users they inherit this one.
test.skipIf(!isLinux || findBrowser("") === undefined)(
  "a browser",
  async () => {
    const browser = createBrowser({ executable: "", endpoint: "" });
    try {
      await browser.get();
      const isBrowser = (pid: number) => /--remote-debugging-pipe/.test(procText(`/proc/${pid}/cmdline`));
      const ours = childrenOf(process.pid).filter(isBrowser);
      expect(ours).not.toEqual([]);
      for (const pid of ours) expect(getPriority(pid)).toBe(BEHIND);
    } finally {
      await browser.close();
    }
  },
  60_000,
);

test.each([
  [1, false, 1],
  [2, false, 2],
  [1, true, 0.2],
  [2, true, 0.2],
  [3, true, 2],
  [4, true, 2],
])("pages of jobs with %d threads, beside a busy event loop: %p", (threads, isBusy, size) => {
  expect(jobsSize(threads, isBusy)).toBe(size);
});
