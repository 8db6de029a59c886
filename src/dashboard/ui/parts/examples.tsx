// Examples of a first request, with the address, the new key and a model of the account already put in.

import type { Listing, ModelChoice } from "../../contract.ts";
import { useLoad } from "../load.ts";
import { baseUrl, freshKey } from "../session.ts";
import { SNIPPETS } from "../snippets.ts";
import { Code } from "./copy.tsx";
import { Tabs } from "./tabs.tsx";

/** The examples, one tab for each client. */
export function Examples() {
  const models = useLoad<Listing<ModelChoice>>("/models").value.value?.data;
  const parts = { base: baseUrl.value, key: freshKey.value ?? "sk-…", model: modelFor(models) };
  return (
    <>
      <Tabs
        label="Client"
        names={SNIPPETS.map(({ name }) => name)}
        panel={(index) => {
          const snippet = SNIPPETS[index] ?? SNIPPETS[0];
          return <Code text={snippet.text(parts)} what={snippet.name} />;
        }}
      />
      {freshKey.value === undefined && (
        <p class="hint">
          Replace this with your key: <code>sk-…</code>
        </p>
      )}
    </>
  );
}

/** A real model, if there is one. */
function modelFor(models: readonly ModelChoice[] | undefined): string {
  const usable = models?.filter((model) => model.usable) ?? [];
  return (usable.find(({ id }) => id !== "demo-echo") ?? usable[0])?.id ?? "demo-echo";
}
