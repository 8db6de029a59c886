// The messages of a request whose key was being debugged: the client's side and the providers'.

import type { Listing } from "../../../contract.ts";
import type { WireMessage, WireView } from "../../../contract-log.ts";
import { useLoad } from "../../load.ts";
import { Code } from "../../parts/copy.tsx";
import { Notice } from "../../parts/notice.tsx";
import { isEverybody } from "../../parts/span.tsx";

/** The messages of the request in the row `id`. */
export function Wire({ id }: { id: number }) {
  const { value, problem } = useLoad<Listing<WireView>>(`${isEverybody() ? "/admin" : ""}/log/${id}/wire`);
  const list = value.value?.data;
  return (
    <section class="stack" aria-label="Requests and answers">
      <Notice>
        This key is being debugged: its requests and answers are recorded, and deleted when debugging ends.
      </Notice>
      {problem.value !== undefined && <Notice kind="danger">{problem.value}</Notice>}
      {list?.length === 0 && (
        <p class="hint">
          Nothing was recorded for this request: it was sent before debugging began, too many requests arrived at once,
          or the limit of requests or bytes was reached.
        </p>
      )}
      {list?.map((wire, index) => (
        <div class="stack" key={index}>
          <Message title="From the client" line={`${wire.request.method} ${wire.request.url}`} message={wire.request} />
          {wire.upstream.map((call, at) => (
            <div class="stack" key={at}>
              <Message title={`To ${call.provider}`} line={`POST ${call.url}`} message={call.request} />
              {call.response !== null && (
                <Message title={`From ${call.provider}`} line={`${call.response.status}`} message={call.response} />
              )}
              {call.error !== null && (
                <p>
                  {call.provider} gave no answer: {call.error}
                </p>
              )}
            </div>
          ))}
          {wire.response !== null && (
            <Message title="To the client" line={`${wire.response.status}`} message={wire.response} />
          )}
        </div>
      ))}
    </section>
  );
}

function Message({ title, line, message }: { title: string; line: string; message: WireMessage }) {
  const headers = message.headers.map(([name, value]) => `${name}: ${value}`).join("\n");
  return (
    <details>
      <summary>{title}</summary>
      <Code text={`${line}\n${headers}\n\n${pretty(message)}`} what={title.toLowerCase()} />
      {message.cut && <p class="hint">The body was longer. Only its beginning was recorded.</p>}
    </details>
  );
}

/** JSON is formatted; any other text is shown unchanged. */
function pretty({ body, cut }: WireMessage): string {
  if (cut || !/^\s*[[{]/.test(body)) return body;
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
