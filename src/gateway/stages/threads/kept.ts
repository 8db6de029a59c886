// What is stored of threads: the messages of the last request with its answer, and the compactions. All of it is sealed. It is
// deleted with the account, after `compaction.retention`, and when the account's storage is full.

import { sha256Hex } from "../../../base/ids.ts";
import { isStorable } from "../../../base/storable.ts";
import type { Element } from "../../../chat/entries.ts";
import type { ThreadName } from "../../../store/work/thread-name.ts";
import type { Thread, ThreadOverview, ThreadStore } from "../../../store/work/threads.ts";
import type { Compaction, CompactionStore } from "../compaction/memory.ts";
import type { Sealer } from "../compaction/seal.ts";

/** The content of a thread. */
export interface ThreadText {
  /** The client format in which the messages are written. */
  format: string;
  messages: readonly Element[];
  /** Further data of the thread. */
  more?: Readonly<Record<string, unknown>>;
}

/** A thread with its text. */
export interface ReadThread {
  row: Thread;
  text: ThreadText;
}

export interface KeptThreadsDeps {
  store: ThreadStore & { makeRoom(accountId: string, bytes: number): Promise<boolean> };
  sealer: Sealer;
  retentionMs(): number;
  nowMs(): number;
}

/** Longer names are stored as their hash. */
const NAME_CHARS_MAX = 256;

/** The stored threads. */
export class KeptThreads implements CompactionStore {
  readonly #deps: KeptThreadsDeps;

  constructor(deps: KeptThreadsDeps) {
    this.#deps = deps;
  }

  /** Replaces the content of a thread. */
  async keep(
    name: ThreadName,
    { model, tokens, text }: { model: string; tokens: number; text: ThreadText },
  ): Promise<void> {
    const { store, sealer, retentionMs, nowMs } = this.#deps;
    const state = await sealer.sealValue(text, { accountId: name.accountId, purpose: "thread" });
    const expiresAtMs = nowMs() + retentionMs();
    await store.saveThread({ ...stored(name), model, messages: text.messages.length, tokens, state, expiresAtMs });
    await store.makeRoom(name.accountId, 0);
  }

  /** Finds a thread with its content; undefined if there is none that can be read. */
  async find(name: ThreadName): Promise<ReadThread | undefined> {
    const found = await this.#deps.store.findThread(stored(name));
    if (found === undefined) return undefined;
    const text = await this.#deps.sealer.openValue(found.state, { accountId: name.accountId, purpose: "thread" });
    return text === undefined ? undefined : { row: found, text: text as ThreadText };
  }

  /** Lists an account's threads of a kind without their content, latest first. */
  list(accountId: string, kind: ThreadName["kind"] = "thread"): Promise<ThreadOverview[]> {
    return this.#deps.store.listThreads(accountId, kind);
  }

  /** Deletes a thread; false if there is none. */
  remove(name: ThreadName): Promise<boolean> {
    return this.#deps.store.deleteThread(stored(name));
  }

  async load(name: ThreadName): Promise<Compaction[]> {
    const rows = await this.#deps.store.summariesOf(stored(name));
    return rows.flatMap(({ state }) => {
      const text = this.#deps.sealer.open(state, { accountId: name.accountId, purpose: "summary" });
      // A compaction that was sealed with an earlier secret counts as missing.
      return text === undefined ? [] : [JSON.parse(text) as Compaction];
    });
  }

  async save(wanted: ThreadName, compaction: Compaction): Promise<void> {
    const { store, sealer } = this.#deps;
    const name = stored(wanted);
    const { accountId } = name;
    if ((await store.findThread(name)) === undefined) {
      // A conversation that the gateway holds was deleted meanwhile, so nothing is stored for it. A thread may be new, as its
      // first request is not yet answered.
      if (name.kind !== "thread") return;
      await this.keep(name, { model: "", tokens: 0, text: { format: "", messages: [] } });
    }
    const { id, tokens, createdAtMs } = compaction;
    const state = sealer.seal(JSON.stringify(compaction), { accountId, purpose: "summary" });
    await store.saveSummary({ ...name, id, tokens, createdAtMs, state });
    await store.makeRoom(accountId, 0);
  }
}

/** The name under which a thread is stored. */
function stored(name: ThreadName): ThreadName {
  const { accountId, kind, threadId } = name;
  return {
    accountId,
    kind,
    threadId: threadId.length <= NAME_CHARS_MAX && isStorable(threadId) ? threadId : `sha256:${sha256Hex(threadId)}`,
  };
}
