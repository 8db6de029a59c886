// Reads the calls of MCP servers in a history: each is again the call and the result that the model saw. What the client says of
// calls that waited for it is read too.

import type { ChatMessage, OpaquePart, ToolResultPart, UserContent } from "../../../chat/request.ts";
import type { McpBlock, McpCallBlock, McpFormat } from "../../../wire/mcp-format.ts";
import type { ChatMessages, OpenedCall } from "./deps.ts";
import { functionName } from "./mcp-names.ts";
import { saidText } from "./told.ts";

/** A call that the client has approved, and which was not made yet. */
export interface ApprovedCall {
  readonly call: McpCallBlock & { readonly approvalId: string };
  /** Takes what the server says. */
  readonly result: ToolResultPart;
}

/** How the blocks are read. */
export interface McpHistoryOptions {
  readonly format: McpFormat;
  /** Whether the gateway runs the tools of a server. */
  isOwn(label: string): boolean;
  /** Names of functions that the client has itself. */
  readonly taken: ReadonlySet<string>;
}

/** The blocks of one history. */
export class McpHistory {
  /** Calls to make before the model is asked. */
  readonly approved: ApprovedCall[] = [];
  /** The servers whose tools the client was shown. */
  readonly listed = new Set<string>();
  readonly #options: McpHistoryOptions;
  readonly #approvals = new Map<string, { readonly approve: boolean; readonly reason: string }>();
  /** The approvals of calls that were made. */
  readonly #made = new Set<string>();
  readonly #calls = new Set<string>();

  constructor(messages: ChatMessages, options: McpHistoryOptions) {
    this.#options = options;
    for (const message of messages) {
      if (message.role === "assistant") this.#note(message);
      if (message.role !== "user") continue;
      for (const part of message.content) {
        const approval = this.#approval(part);
        if (approval !== undefined) this.#approvals.set(approval.id, approval);
      }
    }
  }

  /** Whether a block is of an MCP server. */
  isBlock(value: McpBlock): boolean {
    return String(value["type"]).startsWith("mcp_");
  }

  /** The content of a user's message without approvals; undefined if it has none. */
  withoutApprovals(content: readonly UserContent[]): UserContent[] | undefined {
    const left = content.filter((part) => this.#approval(part) === undefined);
    return left.length === content.length ? undefined : left;
  }

  /** `left`: a block of a server whose tools the provider runs. `gone`: one that the model does not need again. */
  open(value: McpBlock, resultOf: (id: unknown) => McpBlock | undefined): OpenedCall | "left" | "gone" {
    const { format, isOwn, taken } = this.#options;
    const beside = format.beside(value);
    if (beside !== undefined) {
      const isOurs = "label" in beside ? isOwn(beside.label) : this.#calls.has(beside.callId);
      return isOurs ? "gone" : "left";
    }
    const call = format.call(value, resultOf);
    if (call === undefined || !isOwn(call.label)) return "left";
    const { callId, approvalId, result } = call;
    if (approvalId !== undefined && result === undefined && this.#made.has(approvalId)) return "gone";
    this.#calls.add(callId);
    const name = functionName(call.label, call.name, taken);
    const answer: ToolResultPart = { type: "tool-result", callId, name, content: [] };
    const approval = approvalId === undefined ? undefined : this.#approvals.get(approvalId);
    if (result === undefined && approvalId !== undefined && approval?.approve === true) {
      this.approved.push({ call: { ...call, approvalId }, result: answer });
    } else {
      const text = saidText(result ?? { text: declined(approval), isError: true });
      answer.content.push({ type: "text", text });
    }
    return { call: { type: "tool-call", callId, name, kind: "function", arguments: call.input }, result: answer };
  }

  #note({ content }: Extract<ChatMessage, { role: "assistant" }>): void {
    for (const part of content) {
      if (part.type !== "opaque") continue;
      const { format } = this.#options;
      const beside = format.beside(part.value);
      if (beside !== undefined && "label" in beside) this.listed.add(beside.label);
      const call = format.call(part.value, () => undefined);
      if (call?.result !== undefined && call.approvalId !== undefined) this.#made.add(call.approvalId);
    }
  }

  #approval(part: UserContent) {
    const { approval, origin } = this.#options.format;
    return part.type === "opaque" && (part as OpaquePart).origin === origin ? approval?.(part.value) : undefined;
  }
}

function declined(approval: { readonly reason: string } | undefined): string {
  if (approval === undefined) return "The user has not approved the call, so that it was not made.";
  return `The user declined the call, so that it was not made.${approval.reason === "" ? "" : ` Reason: ${approval.reason}`}`;
}
