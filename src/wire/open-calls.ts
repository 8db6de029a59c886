// Calls of tools that have no result yet, for formats in which a result may name its tool alone.

/** A call of a tool. */
interface OpenCall {
  readonly callId: string;
  readonly name: string;
}

/** The calls that have no result yet. Each is looked at once, however many there are. */
export class OpenCalls {
  readonly #open = new Map<string, OpenCall>();
  /** By tool, the earliest first. */
  readonly #ofTool = new Map<string, OpenCall[]>();

  /** Adds the calls of a message, which follow those that were added before. */
  add(calls: readonly OpenCall[]): void {
    for (const call of calls) {
      this.#open.set(call.callId, call);
      const list = this.#ofTool.get(call.name);
      if (list === undefined) this.#ofTool.set(call.name, [call]);
      else list.push(call);
    }
  }

  /** The call of a result: the one with the id, else the earliest of the tool, else the earliest. It has its result then. */
  take(id: string | undefined, name: string | undefined): OpenCall | undefined {
    const call = id !== undefined ? this.#open.get(id) : name === undefined ? this.#first() : this.#earliest(name);
    if (call !== undefined) this.#open.delete(call.callId);
    return call;
  }

  #first(): OpenCall | undefined {
    return this.#open.values().next().value;
  }

  #earliest(name: string): OpenCall | undefined {
    const list = this.#ofTool.get(name);
    const at = list?.findIndex(({ callId }) => this.#open.has(callId)) ?? -1;
    if (list === undefined || at < 0) return undefined;
    // What was looked at has its result.
    const [call] = list.splice(0, at + 1).slice(-1);
    return call;
  }
}
