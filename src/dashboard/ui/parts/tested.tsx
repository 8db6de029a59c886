// A button that runs a test, and its result.

import { useSignal } from "@preact/signals";
import type { ProviderTest, TestStatus } from "../../contract-admin.ts";
import { call } from "../api.ts";
import { Badge } from "./notice.tsx";
import { When } from "./time.tsx";

const KINDS = { ok: "ok", warning: "warn", failed: "danger" } as const;
const WORDS: Readonly<Record<TestStatus, string>> = { ok: "Works", warning: "Unclear", failed: "Failed" };

/** The state of a test. */
export interface Tests {
  readonly running: boolean;
  readonly result: ProviderTest | undefined;
  run(): Promise<void>;
}

/** Runs the test at a path of the API; `afterRun` is called after each run. */
export function useTest(path: string, afterRun: () => void = () => {}): Tests {
  const running = useSignal(false);
  const result = useSignal<ProviderTest | undefined>(undefined);
  return {
    running: running.value,
    result: result.value,
    async run() {
      if (running.value) return;
      running.value = true;
      try {
        result.value = await call<ProviderTest>("POST", path);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        result.value = { status: "failed", ms: 0, message, at: new Date().toISOString() };
      } finally {
        running.value = false;
      }
      afterRun();
    },
  };
}

export function TestButton({ test, of }: { test: Tests; of: string }) {
  return (
    <button type="button" aria-busy={test.running} onClick={() => void test.run()}>
      {test.running ? "Testing…" : "Test"}
      <span class="off-screen"> {of}</span>
    </button>
  );
}

/** The result, which screen readers announce when it arrives. */
export function TestResult({ test: { result } }: { test: Tests }) {
  return (
    <div class="tested" role="status">
      {result !== undefined && (
        <>
          <Badge kind={KINDS[result.status]}>{WORDS[result.status]}</Badge>{" "}
          <span>
            {result.message}
            {result.ms > 0 && ` · ${result.ms} ms`} · <When iso={result.at} />
          </span>
        </>
      )}
    </div>
  );
}
