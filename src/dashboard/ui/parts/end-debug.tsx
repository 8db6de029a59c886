// The button that ends the debugging of a key.

import { call } from "../api.ts";
import { refreshSession } from "../session.ts";
import { confirmed } from "./confirm.tsx";
import { say } from "./notice.tsx";

/** `path`: the key's path in the API; `changed` reloads the data that shows it. */
export function EndDebug({ path, name, changed }: { path: string; name: string; changed?: () => Promise<void> }) {
  const end = async () => {
    const text = "What was kept of its requests and answers is deleted.";
    if (!(await confirmed({ title: `End the debugging of ${name}?`, text, action: "End now" }))) return;
    try {
      await call("DELETE", `${path}/debug`);
      say(`The key ${name} is no longer debugged.`);
      // The notice on every page must disappear too.
      await Promise.all([changed?.(), refreshSession()]);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "danger");
    }
  };
  return (
    <button type="button" class="quiet" onClick={() => void end()}>
      End now<span class="off-screen"> debugging of {name}</span>
    </button>
  );
}
